import { isIP } from 'node:net';
import { headerNameProblem, type ProxySettings } from '../../../apiserver/requestheader/trust.js';
import type { OptionValues } from './flags.js';

/** Trusted front proxies: from settings, or from the cluster that this process runs in. */
export type FrontProxyConfig =
  | { from: 'files'; caFile: string; headers: Omit<ProxySettings, 'authorities'> }
  | { from: 'cluster'; server: string };

type HeaderFlag =
  | 'requestheader-username-headers'
  | 'requestheader-group-headers'
  | 'requestheader-extra-headers-prefix'
  | 'requestheader-uid-headers';

/**
 * Returns the trusted front proxies. Adds a problem for settings that would be unused or that the
 * cluster provides too: trust must be unambiguous.
 */
export function parseFrontProxy(
  values: OptionValues,
  given: readonly string[],
  environment: NodeJS.ProcessEnv,
  problems: string[],
): FrontProxyConfig | undefined {
  const headerFlags = given.filter((flag) => flag.startsWith('requestheader-'));
  const isFromCluster = values['authentication-skip-lookup'] === false;
  const caFile = values['requestheader-client-ca-file'];
  if (isFromCluster && headerFlags.length > 0) {
    problems.push(
      `--${headerFlags[0]} and --authentication-skip-lookup=false are both set; trusted front proxies come ` +
        'either from settings or from the cluster',
    );
  }
  if (!isFromCluster && caFile === undefined) {
    for (const flag of headerFlags) {
      problems.push(
        `--${flag} is set without --requestheader-client-ca-file: no front proxy would be trusted`,
      );
    }
  }
  if (!isFromCluster && caFile === undefined) return undefined;
  if (values['secure-port'] === undefined) {
    problems.push(
      `--${isFromCluster ? 'authentication-skip-lookup=false' : 'requestheader-client-ca-file'} is set without --secure-port: front proxies authenticate with a TLS client ` +
        'certificate',
    );
  }
  if (isFromCluster) return { from: 'cluster', server: clusterServer(environment, problems) };
  const namesOf = (flag: HeaderFlag, isPrefix = false): string[] => {
    const names = values[flag] ?? [];
    for (const name of names) {
      const headerProblem = headerNameProblem(name, isPrefix);
      if (headerProblem !== undefined) problems.push(`--${flag}: ${headerProblem}`);
    }
    return names.map((name) => name.toLowerCase());
  };
  const headers = {
    usernameHeaders: namesOf('requestheader-username-headers'),
    groupHeaders: namesOf('requestheader-group-headers'),
    extraHeaderPrefixes: namesOf('requestheader-extra-headers-prefix', true),
    uidHeaders: namesOf('requestheader-uid-headers'),
  };
  if (headers.usernameHeaders.length === 0) {
    problems.push('--requestheader-username-headers: at least one username header is required');
  }
  return {
    from: 'files',
    caFile: caFile!,
    headers: {
      ...headers,
      allowedNames: values['requestheader-allowed-names'] ?? [],
    },
  };
}

/**
 * Returns the API server of a pod's cluster, from the variables that Kubernetes sets in every
 * container.
 */
function clusterServer(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: NodeJS.ProcessEnv,
  problems: string[],
): string {
  const server = host && port ? `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}` : '';
  if (!URL.canParse(server)) {
    problems.push(
      '--authentication-skip-lookup=false: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT ' +
        'are not set, as they are in every pod; outside a cluster, set ' +
        '--requestheader-client-ca-file',
    );
  }
  return server;
}
