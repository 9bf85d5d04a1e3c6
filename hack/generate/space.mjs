import {
  bytesOfDailySignIn,
  lastingBytes,
  neededBytes,
  signInRecords,
  storeFactors,
} from '../../dist/cmd/vestibule/serve/warnings/space-need.js';
import { defaultLimits } from '../../dist/kinds/limits/limit-settings.js';

const gigabyte = 1e9;
const number = (value, digits = 0) =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const hour = 3_600_000;
const dayMs = 24 * hour;
const days = (ms) => number(ms / dayMs, ms < dayMs ? 2 : 0);

/** What is shown: accounts, each with three apps, and sign-ins a day. */
const examples = [
  [1_000, 500],
  [10_000, 5_000],
  [100_000, 30_000],
  [1_000_000, 90_000],
];

/** Limits with what an operator would shorten first. */
const shorter = {
  ...defaultLimits,
  signInRetention: 7 * 24 * hour,
  sessionIdleLifetime: 24 * hour,
};

const measured = `## Measured points

| What | Content | Embedded store | etcd 3.6.16 |
|---|---|---|---|
| the records of 40,000 sign-ins, 240,000 keys, written once | 71.0 MB | 109 MB (1.54) | 110 MB (1.55) |
| 75 days of 1,200 sign-ins, each record removed at its end | 37 MB | 87 MB (2.36) | 96 MB (2.67), from day 30 on |
| the records of 10,000, of which as many as there are were replaced at random | 17.9 MB | 38 MB (2.11) | 60 MB (3.33) |

The second line is what the factors come from. On etcd its days took seven minutes, with the records that live for an hour,
too, and etcd had removed the history of three of their hours before the next three began. In the third line history came
faster than in a service, and 2.74 was in use. A small embedded store takes more: with 400 sign-ins a day, 12.4 MB of
content, 37 MB (2.97).

Before decisions were deflated and copies of consents went with their sessions, one sign-in a day was 180.7 kB, of which
105.5 kB were decisions, 49.0 kB copies of consents, and 26.1 kB sessions.

## Memory

Memory does not grow with the accounts: a million take at most 75 bytes each more than a thousand (row 17g). A process takes
134 MB at rest (row 12a). [Benchmarks](benchmarks.md) has what it takes after 10,000 sign-ins.

With less than 1 GiB of memory, set \`NODE_OPTIONS=--max-semi-space-size=16\`, as the image and the chart do: a sign-in takes
less processor time ([why](../design/performance.md#young-generation)).
`;

/** Returns the page about how much space the store needs. */
export function spaceReference() {
  const each = bytesOfDailySignIn(defaultLimits);
  const { account, grant } = lastingBytes;
  const changes = defaultLimits.decisionRetention;
  const rows = signInRecords.map(({ what, bytes, lifetimeMs }) => {
    const kept = lifetimeMs(defaultLimits);
    const daily = number((bytes * kept) / dayMs / 1000, 2);
    return `| ${what} | ${number(bytes)} | ${days(kept)} | ${daily} |`;
  });
  const needs = examples.map(([accounts, signInsPerDay]) => {
    const load = { accounts, signInsPerDay, grants: 3 * accounts };
    const need = (store) => `${number(neededBytes(load, defaultLimits, store) / gigabyte, 2)} GB`;
    return `| ${number(accounts)} | ${number(signInsPerDay)} | ${need('embedded')} | ${need('etcd')} |`;
  });
  const most = (limits) =>
    number(
      Math.floor((8 * 2 ** 30) / storeFactors.etcd / bytesOfDailySignIn(limits) / 1_000) * 1_000,
    );
  return `<!-- Written by hack/gen. Do not edit. -->
# How much it needs

This page says how much of a disk or of etcd's quota, and how much memory, the service needs. \`vestibule serve\`
computes with the same numbers. A minute after the start and every six hours it warns of a disk or a quota that is too
small for the sign-ins that it sees: its live sessions, divided by the days that a session lasts without use.

## The store

One sign-in with remembered consent leaves these records. Row 20 of [hack/bench](benchmarks.md) measures them, and fails
if the formula is off by a tenth.

| What a sign-in leaves | Bytes with keys | Days | kB for one sign-in a day |
|---|---|---|---|
${rows.join('\n')}
| all | | | ${number(each / 1000, 1)} |

So **a store needs, in bytes,**

    factor × (sign-ins a day × ${number(each)} + accounts × ${number(account)} + apps of all accounts × ${number(grant)})

with the usual settings. An app of an account is one that the person agreed to: its Grant, and the decisions about it that
are counted. The factor is ${storeFactors.embedded} for the embedded store and ${storeFactors.etcd} for etcd: indexes, five
minutes of history, and space that is free but not yet used again.

| Accounts, with three apps each | Sign-ins a day | Embedded store | etcd |
|---|---|---|---|
${needs.join('\n')}

8 GiB, which etcd advises as its largest quota, hold ${most(defaultLimits)} sign-ins a day. With
\`limits.signInRetention\` 168h and \`limits.sessionIdleLifetime\` 24h they hold ${most(shorter)}.

Each change by a person, each refusal and each consent, with each scope that it shares, leaves a decision of 470 bytes for
\`limits.decisionRetention\` (${days(changes)} days). That is ${number((470 * changes) / dayMs / 1000)} kB for one a day.
Attempts to sign in that fail leave at most one of each outcome for an account and an hour.
The limits of recorded decisions bound what one account can add.

Beside the store, the disk of the embedded store has 64 to 512 MiB free at all times, by its size and the memory. A snapshot takes as much as the content.

${measured}`;
}
