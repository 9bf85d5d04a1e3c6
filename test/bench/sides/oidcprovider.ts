import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Provider as Library } from 'oidc-provider';
import { Delivery } from './delivery.js';
import { bodyOf, redirect, sendJSON, sendPage } from './http.js';
import { configuration } from './oidcprovider-configuration.js';
import { accountOf, EmailCodes, openRecords } from './records.js';

/**
 * oidc-provider with a durable adapter and the exchanges of the service's own journey: an
 * interaction is redirected to a page, read, answered with an emailed code or with consent.
 */
const port = Number(process.env.PORT);
const records = openRecords(process.env.FOLDER!);
const delivery = new Delivery();
const codes = new EmailCodes(records, delivery);
const provider = new (Library as any)(`http://localhost:${port}`, await configuration(records));
provider.silent = true;
const callback = provider.callback() as (a: IncomingMessage, b: ServerResponse) => void;
const interaction = /^\/api\/v1beta1\/interactions\/([^/]+)(?:\/(\w+))?$/;

const server = createServer((request, response) => {
  if (delivery.answer(request, response)) return;
  const found = interaction.exec(request.url!);
  if (request.url!.startsWith('/sign-in/')) {
    sendPage(response);
  } else if (!found) {
    callback(request, response);
  } else {
    answer(request, response, found[2] ?? '').catch((error: Error) =>
      sendJSON(response, { message: error.message }, 500),
    );
  }
});
server.keepAliveTimeout = 65_000;
server.listen(port, '127.0.0.1');

/** Answers a request for an interaction, or for an `action` of it. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  action: string,
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  if (request.method === 'GET' && request.headers.accept !== 'application/json') {
    return redirect(response, `/sign-in/${details.uid}`);
  }
  const { prompt, params } = details;
  if (request.method === 'GET') {
    return sendJSON(response, { prompt: prompt.name, client: params.client_id });
  }
  const { spec } = await bodyOf(request);
  if (action === 'emailchallenge') {
    await codes.send(details.uid, spec.email);
    return sendJSON(response, { status: { sent: true } });
  }
  if (action === 'login') {
    return logIn(request, response, await codes.redeem(details.uid, spec.code));
  }
  return consent(request, response, { details, scopes: spec.scopes });
}

async function logIn(
  request: IncomingMessage,
  response: ServerResponse,
  email: string | undefined,
): Promise<void> {
  if (email === undefined) return sendJSON(response, { message: 'wrong code' }, 400);
  const name = await accountOf(records, email);
  const returnTo = await provider.interactionResult(request, response, {
    login: { accountId: name },
  });
  sendJSON(response, { status: { returnTo, account: { name, email } } });
}

/** Stores what was agreed to and lets the person on. */
async function consent(
  request: IncomingMessage,
  response: ServerResponse,
  { details, scopes }: { details: any; scopes: string[] },
): Promise<void> {
  const [accountId, clientId] = [details.session.accountId, details.params.client_id];
  const key = `agreed/${accountId}/${clientId}`;
  const former = records.get(key) as string | undefined;
  const grant =
    (former && (await provider.Grant.find(former))) ?? new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(scopes.join(' '));
  const grantId = await grant.save();
  if (grantId !== former) await records.put(key, grantId);
  const returnTo = await provider.interactionResult(
    request,
    response,
    { consent: { grantId } },
    { mergeWithLastSubmission: true },
  );
  sendJSON(response, { status: { returnTo } });
}
