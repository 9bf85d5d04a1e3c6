import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignInServer } from '../sign-in-server.js';
import { peerCommand, startProgram } from './peer.js';
import { manifestsIn, startVestibule } from './vestibule.js';

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

/** The service with a text in mode Shadow that differs from the one in force by a comment. */
export const vestibuleWithShadow: SignInServer = {
  ...vestibule,
  name: 'vestibule with a shadow',
  prepare(bench, folder) {
    const text = execFileSync(bench.node, [join(bench.root, 'bin/vestibule'), 'policy'], {
      encoding: 'utf8',
    });
    const policy = {
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'Policy',
      spec: { mode: 'Shadow', cedar: `${text}\n// in trial\n` },
    };
    writeFileSync(join(manifestsIn(folder), 'shadow.yaml'), JSON.stringify(policy));
  },
};

/** The service whose history is compacted every five seconds, and whose access tokens live a minute. */
export const vestibuleCompacting: SignInServer = {
  ...vestibule,
  name: 'vestibule that compacts',
  async start(bench, folder, { port }) {
    const interval = ['--etcd-compaction-interval', '5s', '--limits-access-token-lifetime', '1m'];
    const store = ['--data-dir', join(folder, 'data'), ...interval];
    const served = await startVestibule(bench, folder, store, port);
    return { ...served, usage: () => served.child.usage() };
  },
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
