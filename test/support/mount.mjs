/**
 * Loaded before the command: it finds the service account of the folder SERVICE_ACCOUNT where
 * Kubernetes mounts one into a pod.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const place = '/var/run/secrets/kubernetes.io/serviceaccount/';
for (const name of ['readFileSync', 'existsSync']) {
  const own = fs[name];
  fs[name] = (path, ...rest) =>
    own(
      typeof path === 'string' && path.startsWith(place)
        ? `${process.env.SERVICE_ACCOUNT}/${path.slice(place.length)}`
        : path,
      ...rest,
    );
}
syncBuiltinESMExports();
