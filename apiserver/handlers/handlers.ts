import type { ActionBody } from '../../registry/action.js';
import type {
  AnyKind,
  Call,
  CreationBody,
  KindObject,
  Ports,
  RequestFacts,
} from '../../registry/kind.js';
import type { LimitOf } from '../../registry/rate-limit.js';
import type { NetworkLimits } from '../../registry/network-limits.js';
import type { Registry } from '../../registry/registry.js';
import { badRequest, invalid, notFound } from '../../registry/status.js';
import { Outdated, type Store } from '../../registry/store.js';
import type { Admission } from '../chain/authorization.js';
import { spendAccountBudget } from './account-budget.js';
import { objectOf, readBytes, refuseBodyType } from '../http/body.js';
import type { Admitted, Req, Res } from '../http/message.js';
import {
  hiddenCharacters,
  isDryRun,
  isRecord,
  judgeUnknown,
  refuseOtherKind,
  unknownMembers,
} from './field-validation.js';
import type { Encoder } from '../http/response.js';
import { wireObject } from '../codec/object-encoding.js';
import { rangeOf } from './list.js';
import { isBrowser } from '../http/headers.js';
import { readDeleteOptions, refusePreconditions } from './delete-options.js';
import { none, versionOf, wholeNumber } from '../codec/query.js';
import type { ResourceAsk } from '../request/request-info.js';
import { parseSelector } from '../codec/selectors.js';
import { refuseTooNew } from './resource-version.js';
import { whole } from '../codec/representation.js';
import { changed, created } from './apply-body.js';
import { guard } from '../../registry/storage-errors.js';
import { siteOf } from '../../security/fetch-metadata.js';
import { copyOf, Stored } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';

/** What the handlers stand on. */
export interface HandlerParts {
  store: Store;
  registry: Registry;
  admission: Admission;
  encoder: Encoder;
  limits: NetworkLimits;
  ports(req: Req, res: Res): Ports;
}

const empty = Buffer.alloc(0);

/** One short function a verb; by now the request is known to be permitted. */
export class Handlers {
  readonly #parts: HandlerParts;

  readonly #bodyLimit: number;

  constructor(parts: HandlerParts) {
    this.#parts = parts;
    this.#bodyLimit = parts.store.settings.limits.requestBodySize;
  }

  async get(req: Req, res: Res): Promise<void> {
    const { ask, target } = admittedOf(req);
    if (ask.query !== none && ask.query.get('resourceVersion')) return this.#notOlder(req, res);
    return this.#shown(req, res, target!);
  }

  /**
   * The object read anew once the store has reached the version that was named, and decided anew:
   * 400, 504 (docs/design/kubernetes.md#lists).
   */
  async #notOlder(req: Req, res: Res): Promise<void> {
    const { ask, target: held } = admittedOf(req);
    const version = versionOf(ask.query, () =>
      badRequest('resourceVersion must be a decimal number'),
    );
    if (version === undefined) return this.#shown(req, res, held!);
    await refuseTooNew(this.#parts.store, version);
    const target = await this.#parts.store.stored(ask.kind, ask.name!);
    if (!target || !this.#parts.admission.sees(req.admitted!, target))
      throw notFound(ask.kind, ask.name!);
    return this.#shown(req, res, target);
  }

  async #shown(req: Req, res: Res, target: Stored): Promise<void> {
    const { ask } = admittedOf(req);
    if (ask.kind.bound && isNavigation(req))
      return this.#parts.encoder.send(req, res, 303, empty, [
        'Location',
        `/interaction/${ask.name}`,
        'Vary',
        'Accept, Sec-Fetch-Mode',
        'Cache-Control',
        'no-store',
      ]);
    if (ask.view !== whole)
      return this.#parts.encoder.send(
        req,
        res,
        200,
        ask.view.single(target, { caller: req.admitted!.caller, now: Date.now() }, true),
      );
    if (!ask.kind.strategy.view && !ask.kind.strategy.status)
      return this.#parts.encoder.send(req, res, 200, target.wire());
    return this.#answer(req, res, 200, target.parse(), this.#call(req, res));
  }

  async create(req: Req, res: Res): Promise<void> {
    const { ask } = admittedOf(req);
    const instead = ask.kind.create;
    if (instead && !instead.dryRun && ask.query.has('dryRun'))
      throw badRequest('dryRun is not for this');
    await this.#spend(instead?.limit, req);
    const body = await this.#body(req, res, ask);
    const call = this.#call(req, res, isDryRun(ask));
    const object = instead
      ? await instead.run(call, this.#sent(ask.kind, body))
      : await call.change((tx) => tx.create(ask.kind, created(ask.kind, copyOf(body)) as never));
    const shown = ask.kind.strategy.status ? copyOf(object) : object;
    ask.kind.strategy.status?.(shown, call);
    this.#parts.encoder.json(req, res, 201, wireObject(ask.kind, shown));
  }

  /** What is sent to a kind whose create is an action of its own. */
  #sent(kind: AnyKind, body: Record<string, unknown>): CreationBody {
    const { spec, metadata } = created(kind, body);
    const causes = this.#parts.registry.schemas(kind).sent.check(spec, 'spec');
    if (causes.length > 0) throw invalid(kind, '', causes);
    return { spec, metadata };
  }

  async update(req: Req, res: Res): Promise<void> {
    await this.#write(req, res, 'replace');
  }
  async patch(req: Req, res: Res): Promise<void> {
    await this.#write(req, res, 'merge');
  }

  /**
   * Counts the request against a limit by client network, if there is one; throws 429 beyond it.
   */
  async #spend(limit: LimitOf | undefined, { network }: Req): Promise<void> {
    const { limits, store } = this.#parts;
    if (limit) await limits.spend(limit(store.settings.limits), network, Date.now());
  }

  async #write(req: Req, res: Res, how: 'replace' | 'merge'): Promise<void> {
    const { ask } = admittedOf(req);
    await this.#spend(ask.kind.changeLimit, req);
    refuseBodyType(req);
    const body = await this.#read(req, ask.kind.bodyLimit);
    const { schema } = this.#parts.registry.schemas(ask.kind).spec;
    const write = async (): Promise<void> => {
      const call = this.#call(req, res, isDryRun(ask));
      const object = await call.change((tx) =>
        tx.update(ask.kind, ask.name!, (next) =>
          judgeUnknown(
            req,
            res,
            ask,
            ask.name!,
            changed(ask.kind, next, copyOf(body), how, schema),
          ),
        ),
      );
      await this.#answer(req, res, 200, object, call);
    };
    try {
      await write();
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      req.admitted = await this.#parts.admission.again(req.admitted!);
      await write();
    }
  }

  async delete(req: Req, res: Res): Promise<void> {
    const { ask } = admittedOf(req);
    const options = await readDeleteOptions(req, res, ask, this.#bodyLimit);
    const call = this.#call(req, res, options.dry);
    const old = await call.change(async (tx) => {
      const target = await tx.get(ask.kind, ask.name!);
      if (!target) throw notFound(ask.kind, ask.name!);
      refusePreconditions(ask, options, target);
      return tx.delete(ask.kind, ask.name!);
    });
    if (ask.kind.strategy.remove) {
      const left = call.dryRun
        ? old!
        : (await this.#parts.store.stored(ask.kind, ask.name!))?.parse();
      return this.#answer(req, res, 200, left ?? deleted(old!, call.now), call);
    }
    const { uid } = old!.metadata;
    this.#parts.encoder.json(req, res, 200, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: ask.name, group: ask.kind.group, kind: ask.kind.resource, uid },
      code: 200,
    });
  }

  /**
   * Deletes one at a time what the selectors name and the caller may delete; answers the List of
   * what went.
   */
  async deletecollection(req: Req, res: Res): Promise<void> {
    const { ask, owner } = admittedOf(req);
    const options = await readDeleteOptions(req, res, ask, this.#bodyLimit);
    const call = this.#call(req, res, options.dry);
    const selector = parseSelector(ask.query, ask.kind);
    const page = await guard(
      this.#parts.store.storage.list(rangeOf(ask.kind, owner, selector.name)),
    );
    const gone: unknown[] = [];
    const most = wholeNumber(ask.query, 'limit', 2 ** 31) || Infinity;
    for (const entry of page.entries) {
      const stored = new Stored(ask.kind, entry);
      const decision = selector.matches(stored.object)
        ? this.#parts.admission.judge(req.admitted!, stored)
        : undefined;
      if (!decision?.allowed) continue;
      const old = await this.#parts.store.change(
        call,
        async (tx) => {
          const target = await tx.get(ask.kind, stored.name);
          if (target) refusePreconditions(ask, options, target);
          return tx.delete(ask.kind, stored.name);
        },
        decision,
      );
      if (old) gone.push(this.#ended(ask.kind, old, call));
      if (gone.length === most) break;
    }
    this.#parts.encoder.json(req, res, 200, {
      kind: `${ask.kind.kind}List`,
      apiVersion: `${ask.kind.group}/v1alpha1`,
      metadata: { resourceVersion: String(page.revision) },
      items: gone,
    });
  }

  /** What went, as it is listed: where an end is carried out by steps, marked with it. */
  #ended(kind: AnyKind, old: KindObject, call: Call): Record<string, unknown> {
    const shown = copyOf(kind.strategy.remove ? deleted(old, call.now) : old);
    kind.strategy.status?.(shown, call);
    return wireObject(kind, shown);
  }

  /**
   * POST, GET or PATCH on `<resource>/<name>/<subresource>`: network limit, decode, validate, run.
   */
  async action(req: Req, res: Res): Promise<void> {
    const { ask, target } = admittedOf(req);
    const action = ask.action!;
    if (ask.query.has('dryRun')) throw badRequest('dryRun is not for actions');
    await this.#spend(action.limit, req);
    const call = this.#call(req, res);
    const body =
      action.verb === 'get' ? { spec: {}, apply() {} } : await this.#actionBody(req, res, ask);
    const answer = (await action.run(call, target!.object, body)) as KindObject;
    const kind = action.answers ?? action.of;
    if ('schema' in kind) return this.#parts.encoder.json(req, res, action.code, answer);
    await this.#answer(req, res, action.code, answer, call, kind);
  }

  async #actionBody(req: Req, res: Res, ask: ResourceAsk): Promise<ActionBody<unknown>> {
    const action = ask.action!;
    refuseBodyType(req);
    const body = await this.#read(req, action.bodyLimit ?? ask.kind.bodyLimit);
    refuseOtherKind(body, action.kind);
    const answers = action.answers && 'resource' in action.answers ? action.answers : action.of;
    if (action.verb === 'patch') {
      const { schema } = this.#parts.registry.schemas(answers).spec;
      return {
        spec: undefined,
        apply: (next) =>
          judgeUnknown(
            req,
            res,
            ask,
            next.metadata.name,
            changed(answers, next, copyOf(body), 'merge', schema),
            answers,
          ),
      };
    }
    const validator = this.#parts.registry.body(action)!;
    const of = { ...ask.kind, kind: action.kind };
    judgeUnknown(req, res, ask, ask.name!, unknownMembers(body, validator.schema), of);
    const faults = validator.check(body.spec ?? {}, 'spec');
    const causes = faults.length > 0 ? faults : hiddenCharacters(body.spec, 'spec');
    if (causes.length > 0) throw invalid(of, ask.name!, causes);
    return { spec: body.spec ?? {}, apply() {} };
  }

  async #body(req: Req, res: Res, ask: ResourceAsk): Promise<Record<string, unknown>> {
    refuseBodyType(req);
    const body = await this.#read(req, ask.kind.bodyLimit);
    refuseOtherKind(body, ask.kind.kind);
    const name =
      isRecord(body.metadata) && typeof body.metadata.name === 'string' ? body.metadata.name : '';
    judgeUnknown(
      req,
      res,
      ask,
      name,
      unknownMembers(body, this.#parts.registry.schemas(ask.kind).sent.schema),
    );
    return body;
  }

  /** The body of a change, which counts for the account that asks. */
  async #read(req: Req, most = this.#bodyLimit): Promise<Record<string, unknown>> {
    const bytes = await readBytes(req, most);
    const { limits, store } = this.#parts;
    await spendAccountBudget(limits, store.settings.limits, req.caller, bytes.length, Date.now());
    return objectOf(bytes);
  }

  async #answer(
    req: Req,
    res: Res,
    code: number,
    object: KindObject,
    call: Call,
    kind = admittedOf(req).ask.kind,
  ): Promise<void> {
    const { status, view } = kind.strategy;
    const shown = status || view ? copyOf(object) : object;
    status?.(shown, call);
    await view?.(shown, call);
    this.#parts.encoder.json(req, res, code, wireObject(kind, shown));
  }

  #call(req: Req, res: Res, dryRun = false): Call {
    const { caller, target, recalled = false, decision } = req.admitted!;
    const site = siteOf(req);
    const request: RequestFacts = {
      auditID: req.auditID,
      network: req.network,
      userAgent: String(req.headers['user-agent'] ?? '').slice(0, 512),
      browser: isBrowser(req),
      ...(site && { site }),
    };
    return this.#parts.store.call({
      caller,
      request,
      ports: this.#parts.ports(req, res),
      dryRun,
      decision,
      ...(target && { target: { stored: target, recalled } }),
    });
  }
}

const deleted = (old: KindObject, now: number): KindObject => ({
  ...old,
  metadata: { deletionTimestamp: toTimestamp(now), ...old.metadata },
});
const admittedOf = (req: Req): Admitted & { ask: ResourceAsk } =>
  req.admitted as Admitted & { ask: ResourceAsk };

/**
 * Whether a browser opens an address, rather than a script fetches it
 * (docs/design/kubernetes.md#navigation).
 */
function isNavigation({ headers }: Req): boolean {
  if (headers['sec-fetch-mode'] !== undefined) return headers['sec-fetch-mode'] === 'navigate';
  const accept = headers.accept ?? '';
  const html = accept.indexOf('text/html');
  const json = accept.indexOf('application/json');
  return html >= 0 && (json < 0 || html < json);
}
