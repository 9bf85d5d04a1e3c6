import { CommandError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeOut } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { type ApiObject, clientFor } from './connection/api-client.js';
import { Columns } from './output/columns.js';

/**
 * Prints a recorded decision: the request, the facts, the rules that decided and, of a refusal, the
 * smallest changes that would have permitted it.
 */
export async function explainDecision(invocation: Invocation): Promise<void> {
  const [, name, ...more] = invocation.args;
  if (name === undefined || more.length > 0) {
    throw new CommandError(
      `explain takes the name of a PolicyDecision: ${program} policy explain NAME`,
      2,
    );
  }
  const path = `policydecisions/${encodeURIComponent(name)}`;
  writeOut(describeDecision(await clientFor(invocation).requestAPI('GET', path)));
}

function describeDecision({ metadata, spec, status }: ApiObject): string {
  const { resource, scope, client, input } = spec;
  const target = scope
    ? `${scope} to ${client}`
    : [resource?.kind, resource?.name].filter(Boolean).join('/');
  const times = status.count === 1 ? '' : `, ${status.count} times since ${status.firstTimestamp}`;
  const facts = { ...input.facts, ...(input.groups && { groups: input.groups }) };
  return new Columns().print([
    ['Decision', metadata.name!],
    ['Request', `${spec.action} ${target} by ${spec.principal}`],
    ['Answer', `${status.allowed ? 'permitted' : 'refused'} by policy ${spec.policy}`],
    ['Last', `${status.lastTimestamp}${times}`],
    ...rows('Rule', status.reasons.map(ruleText)),
    ...rows('Fact', Object.entries(facts).map(factText)),
    ...rows('Permitted', alternativeTexts(status)),
  ]);
}

const ruleText = ({ rule, message }: { rule: string; message: string }): string =>
  `${rule}: ${message}`;

function factText([fact, value]: readonly [string, unknown]): string {
  if (fact === 'authenticated') {
    return `authenticated at ${new Date(Number(value) * 1000).toISOString()}`;
  }
  return `${fact} is ${Array.isArray(value) ? value.join(', ') : String(value)}`;
}

function alternativeTexts({ allowed, alternatives = [] }: ApiObject['status']): string[] {
  if (allowed) return [];
  return alternatives.length > 0
    ? alternatives.map(({ message }: { message: string }) => message)
    : ['by no change that was found or may be shown'];
}

/** Returns a row for each text, the first with the heading. */
const rows = (heading: string, texts: readonly string[]): string[][] =>
  texts.map((text, i) => [i === 0 ? heading : '', text]);
