import type { SignInServer } from '../sign-in-server.js';
import { peerCommand, startProgram } from './peer.js';
import { startVestibule } from './vestibule.js';

const configuration = '/.well-known/openid-configuration';

/** The service as shipped, on the embedded store. */
export const vestibule: SignInServer = {
  name: 'vestibule',
  configuration,
  async start(bench, folder, { port }) {
    const served = await startVestibule(bench, folder, undefined, port);
    return { ...served, usage: () => served.child.usage() };
  },
  load: 'signin',
  journeys: ['asked', 'remembered'],
};

/** oidc-provider with a durable adapter, and the service's own journey around it. */
export const oidcProvider: SignInServer = {
  name: 'oidc-provider',
  configuration,
  start: (bench, folder, address) =>
    startProgram(bench, address, peerCommand(bench, 'oidcprovider'), {
      FOLDER: folder,
      PORT: String(address.port),
    }),
  load: 'signin',
  journeys: ['asked', 'remembered'],
};
