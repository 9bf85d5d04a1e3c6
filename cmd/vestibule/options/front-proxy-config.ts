import { isIP } from 'node:net';
import { wrongHeader, type ProxySettings } from '../../../apiserver/requestheader/trust.js';
import type { OptionValues } from './setting-value.js';
import type { ServeFlag } from './flags.js';

/**
 * Front proxies as the settings have them, or as the cluster says that this process is in a pod of.
 */
export type FrontProxyConfig =
  | { from: 'files'; caFile: string; headers: Omit<ProxySettings, 'authorities'> }
  | { from: 'cluster'; server: string };

/**
 * Settings that would go unused, or say what the cluster says too, are refused: whom to believe is
 * nothing to guess.
 */
export function parseFrontProxy(
  values: OptionValues,
  given: readonly string[],
  environment: NodeJS.ProcessEnv,
  problems: string[],
): FrontProxyConfig | undefined {
  const own = given.filter((flag) => flag.startsWith('requestheader-'));
  const lookup = values['authentication-skip-lookup'] === false;
  const caFile = values['requestheader-client-ca-file'] as string | undefined;
  if (lookup && own.length > 0)
    problems.push(
      `--${own[0]} and --authentication-skip-lookup=false are both given: either the settings ` +
        'say which front proxies are believed, or the cluster does',
    );
  if (!lookup && caFile === undefined)
    for (const flag of own)
      problems.push(
        `--${flag} is given without --requestheader-client-ca-file: no front proxy would be believed`,
      );
  if (!lookup && caFile === undefined) return undefined;
  if (values['secure-port'] === undefined)
    problems.push(
      `--${lookup ? 'authentication-skip-lookup=false' : 'requestheader-client-ca-file'} is ` +
        'given without --secure-port: a front proxy proves itself by a certificate, over TLS alone',
    );
  if (lookup) return { from: 'cluster', server: clusterOf(environment, problems) };
  const list = (flag: ServeFlag, isPrefix = false): string[] => {
    const names = (values[flag] as string[] | undefined) ?? [];
    for (const one of names) {
      const wrong = wrongHeader(one, isPrefix);
      if (wrong !== undefined) problems.push(`--${flag}: ${wrong}`);
    }
    return names.map((one) => one.toLowerCase());
  };
  const headers = {
    usernameHeaders: list('requestheader-username-headers'),
    groupHeaders: list('requestheader-group-headers'),
    extraHeaderPrefixes: list('requestheader-extra-headers-prefix', true),
    uidHeaders: list('requestheader-uid-headers'),
  };
  if (headers.usernameHeaders.length === 0)
    problems.push('--requestheader-username-headers: at least one username header is required');
  return {
    from: 'files',
    caFile: caFile!,
    headers: {
      ...headers,
      allowedNames: (values['requestheader-allowed-names'] as string[] | undefined) ?? [],
    },
  };
}

/** Where a pod finds the API server of its cluster, as Kubernetes tells every container. */
function clusterOf(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: NodeJS.ProcessEnv,
  problems: string[],
): string {
  const server = host && port ? `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}` : '';
  if (!URL.canParse(server))
    problems.push(
      '--authentication-skip-lookup=false: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT ' +
        'do not say where the cluster is, as they do in every pod; elsewhere give ' +
        '--requestheader-client-ca-file',
    );
  return server;
}
