import { randomUUID } from 'node:crypto';
import { newAddress } from '../../../kinds/accountactions/change-email.js';
import { replaceChallenge } from '../../../kinds/accountactions/new-address-challenge.js';
import { codeMacInput } from '../../../kinds/interaction/email-challenge.js';
import { Interaction, type InteractionObject } from '../../../kinds/interaction/interaction.js';
import { login } from '../../../kinds/interaction/login.js';
import { addPasskeyInSetup } from '../../../kinds/interaction/register-passkey.js';
import { Account } from '../../../kinds/people/account/account.js';
import { isSessionValid } from '../../../kinds/people/account/end-sessions.js';
import { Passkey } from '../../../kinds/people/passkey/passkey.js';
import { startRecovery } from '../../../kinds/people/recovery/start.js';
import { recoveryWorker } from '../../../kinds/people/recovery/worker.js';
import { withAddedPasskey } from '../../../kinds/people/session/added-passkey.js';
import { type Method, Session } from '../../../kinds/people/session/session.js';
import { newChallenge, putChallenge } from '../../../kinds/signin/passkey-challenge.js';
import { deviceOf } from '../../../kinds/signin/user-agent.js';
import { accountCaller } from '../../../provider/adapter/accounts.js';
import type { Call, Caller, ObjectOf } from '../../../registry/kind.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { randomName } from '../../../registry/store/random-name.js';
import { digest } from '../../../security/keyring.js';
import { Authenticator } from '../../support/people/authenticator.js';
import type { TestService } from '../../support/service.js';

const code = '12345678';
const lifeMs = 600_000;

/** A sign-in that a browser completed; its session, once it has one. */
export interface SignedIn {
  readonly account: string;
  readonly acr: string;
  readonly isNew: boolean;
  readonly interaction: InteractionObject;
}

/**
 * The actions of a person on a service in this process, without HTTP, the mail and the library: what
 * decides is the same. Each throws what the API would answer.
 */
export class World {
  readonly #service: TestService;

  constructor(service: TestService) {
    this.#service = service;
  }

  call(caller: Caller): Call {
    const { ports } = this.#service.store.systemCall();
    const request = {
      auditID: 'test',
      network: '127.0.0.1',
      userAgent: '',
      acceptLanguage: '',
      browser: true,
    };
    return this.#service.store.call({ caller, request, ports });
  }

  get #store() {
    return this.#service.store;
  }

  #asking(challenge: string) {
    const { baseURL: origin, rpID } = this.#store.settings;
    return { challenge, origin, rpID };
  }

  async #begin(address?: string): Promise<{ call: Call; interaction: InteractionObject }> {
    const name = randomName(32);
    const call = this.call({ type: 'Browser', interaction: name });
    const { keys, now, settings } = call;
    const id = randomUUID();
    const interaction = await this.#store.change(this.#store.systemCall(), (tx) =>
      tx.create(Interaction, {
        metadata: { name },
        spec: { client: 'vestibule-account', scopes: ['openid'], prompt: 'Login' },
        status: {
          phase: 'LoginRequired',
          client: { name: 'vestibule-account', displayName: 'Account', firstParty: true },
          expirationTimestamp: toTimestamp(now + lifeMs),
        },
        internal: {
          epoch: settings.epoch,
          cid: id,
          returnTo: 'none',
          providerInteraction: 'none',
          created: now,
          ends: now + lifeMs,
          replaced: [],
          ...(address !== undefined && {
            email: {
              id,
              address,
              code: keys.mac('emailcode', codeMacInput(name, id, code)).toString('base64url'),
              link: digest(id),
              sent: now,
              expires: now + lifeMs,
              triesLeft: 5,
              state: 'InForce',
              linkOnly: false,
            },
          }),
        },
      } as never),
    );
    return { call, interaction: interaction as InteractionObject };
  }

  #signedIn(interaction: InteractionObject): SignedIn {
    const { account, acr, isSignUp = false, isTakenAddress = false } = interaction.internal.login!;
    return { account, acr, isNew: isSignUp || isTakenAddress, interaction };
  }

  async signInByMail(address: string): Promise<SignedIn> {
    const { call, interaction } = await this.#begin(address);
    const spec = { method: 'EmailCode', code };
    return this.#signedIn(await login.run(call, interaction, { spec, apply() {} }));
  }

  async signInByPasskey(authenticator: Authenticator): Promise<SignedIn> {
    const { call, interaction } = await this.#begin();
    const challenge = newChallenge();
    const { name } = interaction.metadata;
    const asked = await this.#store.change(this.#store.systemCall(), (tx) =>
      tx.update(Interaction, name, ({ internal }) =>
        putChallenge(internal, 'Authenticate', challenge, call.now),
      ),
    );
    const credential = authenticator.get(this.#asking(challenge));
    const body = { spec: { method: 'Passkey', credential }, apply() {} };
    return this.#signedIn(await login.run(call, asked, body));
  }

  /** Adds a passkey while the account is set up. */
  async addInSetup({ interaction: { metadata }, account }: SignedIn): Promise<Authenticator> {
    const call = this.call({ type: 'Browser', interaction: metadata.name });
    const challenge = newChallenge();
    const asked = await this.#store.change(this.#store.systemCall(), (tx) =>
      tx.update(Interaction, metadata.name, ({ internal }) =>
        putChallenge(internal, 'Register', challenge, call.now),
      ),
    );
    const [authenticator, credential] = await this.#credential(account, challenge);
    await addPasskeyInSetup.run(call, asked, { spec: { credential }, apply() {} });
    return authenticator;
  }

  async #credential(account: string, challenge: string): Promise<[Authenticator, unknown]> {
    const { internal } = (await this.#store.reader(Account).get(account))!;
    const authenticator = new Authenticator();
    return [authenticator, authenticator.create(this.#asking(challenge), {}, internal.userHandle)];
  }

  /** The session that a completed sign-in gets, as the library writes it. */
  async sessionOf({ account, interaction }: SignedIn): Promise<string> {
    const latest = (await this.#store.reader(Interaction).get(interaction.metadata.name))!;
    const { method, seconds, acr, addedPasskey } = latest.internal.login!;
    const name = `${account}-${randomName(10)}`;
    const call = this.#store.systemCall();
    const expires = call.now + 14 * 86_400_000;
    await this.#store.change(call, (tx) =>
      tx.create(Session, {
        metadata: { name },
        spec: {},
        status: {
          account,
          current: false,
          authenticationTimestamp: toTimestamp(seconds * 1000),
          methods: [method as Method],
          assurance: acr,
          client: deviceOf(''),
          lastUsedTimestamp: toTimestamp(call.now),
          expirationTimestamp: toTimestamp(expires),
          clients: [],
        },
        internal: {
          recordKey: `oidc/Session/${name}`,
          uidDigest: name,
          loginSeconds: seconds,
          epoch: call.settings.epoch,
          expires,
          ...(addedPasskey && { addedPasskey }),
        },
      }),
    );
    return name;
  }

  /** The caller that a session stands for; undefined once it has ended. */
  async callerOf(session: string): Promise<Extract<Caller, { type: 'Account' }> | undefined> {
    const held = await this.#store.reader(Session).get(session);
    const account = held && (await this.#store.reader(Account).get(held.status.account));
    if (!account || held.metadata.deletionTimestamp || account.metadata.deletionTimestamp) {
      return undefined;
    }
    if (!isSessionValid(account, session, held.internal.loginSeconds)) return undefined;
    const { methods, assurance } = held.status;
    const groups = await this.#store
      .systemCall()
      .ports.groupsOf(account.status.email.address.toLowerCase());
    return accountCaller({ settings: this.#store.settings }, account, groups, {
      session,
      ...withAddedPasskey(
        { authenticated: held.internal.loginSeconds, methods, assurance },
        held.internal.addedPasskey,
      ),
    });
  }

  async addInSession(caller: Extract<Caller, { type: 'Account' }>): Promise<Authenticator> {
    const challenge = newChallenge();
    await this.#store.change(this.#store.systemCall(), (tx) =>
      tx.update(Session, caller.session!, ({ internal }) =>
        putChallenge(internal, 'Register', challenge, Date.now()),
      ),
    );
    const [authenticator, credential] = await this.#credential(caller.account, challenge);
    await Passkey.create!.run(this.call(caller), { spec: { credential } } as never);
    return authenticator;
  }

  async move(caller: Extract<Caller, { type: 'Account' }>, address: string): Promise<void> {
    const call = this.call(caller);
    const session = caller.session!;
    const id = randomUUID();
    const mac = call.keys.mac('emailcode', `${session}\0${id}\0${address.toLowerCase()}\0${code}`);
    await this.#store.change(this.#store.systemCall(), (tx) =>
      replaceChallenge(tx, session, {
        id,
        address,
        code: mac.toString('base64url'),
        sent: call.now,
        length: code.length,
        expires: call.now + lifeMs,
        triesLeft: 5,
      }),
    );
    await newAddress.run(call, await this.#account(caller.account), { spec: { code }, apply() {} });
  }

  async delete(caller: Extract<Caller, { type: 'Account' }>): Promise<void> {
    const call = this.call(caller);
    await call.change((tx) => tx.delete(Account, caller.account));
  }

  async startRecovery(caller: Extract<Caller, { type: 'Account' }>): Promise<string> {
    const call = this.call(caller);
    const account = await this.#account(caller.account);
    const { metadata } = await startRecovery.run(call, account, { spec: {}, apply() {} });
    return metadata.name;
  }

  /** Runs the last step of a recovery, which does nothing before its time. */
  async finishRecovery(recovery: string): Promise<void> {
    await recoveryWorker(this.#store).run({ recovery, step: 'Completed' }, {} as never);
  }

  async #account(name: string): Promise<ObjectOf<typeof Account>> {
    return (await this.#store.reader(Account).get(name))!;
  }
}
