const embedded = {
  baseURL: 'http://localhost:8080',
  image: { repository: 'vestibule' },
  store: { type: 'embedded' },
  mail: { mock: true },
};
const etcd = {
  baseURL: 'https://id.example.org',
  image: { repository: 'vestibule' },
  store: { type: 'etcd', etcd: { servers: ['https://etcd:2379'] } },
  keys: { existingSecret: 'keys' },
  mail: { from: 'a@example.org', smtp: { existingSecret: 'mail' } },
};
const aggregated = {
  ...etcd,
  tls: { existingSecret: 'tls' },
  aggregation: { enabled: true, injectCAFrom: 'identity/serving' },
};
const closed = { gateway: [{ podSelector: {} }], monitoring: [{ podSelector: {} }] };
const open = { etcd: [{ podSelector: {} }], smtp: [{ podSelector: {} }] };

/** Values that are missing something or contradict themselves, and the sentence that says so. */
export const refused: readonly (readonly [what: string, values: object, sentence: string])[] = [
  [
    'no base URL',
    { ...embedded, baseURL: '' },
    'baseURL is empty: give the origin that people reach it by, such as https://id.example.org',
  ],
  [
    'a base URL with a path',
    { ...embedded, baseURL: 'https://example.org/id' },
    'baseURL must be scheme, host and perhaps a port, such as https://id.example.org; got https://example.org/id',
  ],
  [
    'a base URL with a backslash',
    { ...embedded, baseURL: 'https://id.example.org\\' },
    'baseURL must be scheme, host and perhaps a port, such as https://id.example.org; got https://id.example.org\\\\',
  ],
  [
    'a base URL with a password',
    { ...embedded, baseURL: 'https://me:hush@id.example.org' },
    'baseURL must be scheme, host and perhaps a port, such as https://id.example.org',
  ],
  [
    'a public base URL without TLS',
    { ...embedded, baseURL: 'http://id.example.org' },
    'baseURL must be https, or http on loopback; got http://id.example.org',
  ],
  ...(['NodePort', 'LoadBalancer'] as const).flatMap((type) =>
    ['', 'Cluster'].map(
      (externalTrafficPolicy): [what: string, values: object, sentence: string] => [
        `a ${type} that hides who calls (${externalTrafficPolicy || 'by default'})`,
        { ...embedded, service: { type, externalTrafficPolicy } },
        `service.type is ${type} without service.externalTrafficPolicy: Local or config.trustedProxies: everybody would share the address of a node, and its limits`,
      ],
    ),
  ),
  [
    'a traffic policy of a Service in the cluster',
    { ...embedded, service: { externalTrafficPolicy: 'Local' } },
    'service.externalTrafficPolicy is given with service.type ClusterIP: it is for NodePort and LoadBalancer',
  ],
  ...['gateway', 'ingress'].flatMap((way): [what: string, values: object, sentence: string][] => [
    [
      `TLS to the pods without TLS there, by ${way}`,
      {
        ...etcd,
        [way]: { enabled: true, backendTLS: { enabled: true } },
      },
      `${way}.backendTLS.enabled without tls.enabled: the pods have no port with TLS`,
    ],
    [
      `TLS to the pods by a disabled ${way}`,
      { ...aggregated, [way]: { backendTLS: { enabled: true } } },
      `${way}.backendTLS.enabled without ${way}.enabled: nothing would use it`,
    ],
  ]),
  [
    'probes of a port that is not there',
    { ...embedded, probes: { port: 'https' } },
    'probes.port is https without tls.enabled: the pods have no port with TLS',
  ],
  [
    'a base URL that only begins like loopback',
    { ...embedded, baseURL: 'http://localhost.example.org' },
    'baseURL must be https, or http on loopback; got http://localhost.example.org',
  ],
  [
    'no image',
    { ...embedded, image: {} },
    'image.repository is empty: give the name of the image with the registry that you pushed it to',
  ],
  [
    'no store',
    { ...embedded, store: {} },
    'store.type is empty: give embedded (one replica with a volume) or etcd (any number of them)',
  ],
  [
    'etcd without addresses',
    { ...etcd, store: { type: 'etcd' } },
    'store.etcd.servers is empty: give the client addresses of etcd, such as https://etcd-0.etcd:2379',
  ],
  [
    'etcd without TLS',
    { ...etcd, store: { type: 'etcd', etcd: { servers: ['http://etcd:2379'] } } },
    'store.etcd.servers: http://etcd:2379 must be https, or http on loopback',
  ],
  [
    'half a certificate for etcd',
    {
      ...etcd,
      store: {
        type: 'etcd',
        etcd: { servers: ['https://etcd:2379'], existingSecret: 'etcd', keyKey: '' },
      },
    },
    'store.etcd.certKey and store.etcd.keyKey belong together: give both or neither',
  ],
  [
    'etcd without keys',
    { ...etcd, keys: {} },
    'keys.existingSecret is empty: with etcd every replica needs the same keys; make them with "vestibule keys new keys.json" and put them into a Secret',
  ],
  [
    'etcd with a volume',
    { ...etcd, store: { ...etcd.store, embedded: { existingClaim: 'data' } } },
    'store.embedded.existingClaim is given with store.type etcd: one store at a time',
  ],
  [
    'two stores',
    { ...embedded, store: { type: 'embedded', etcd: { servers: ['https://etcd:2379'] } } },
    'store.etcd is given with store.type embedded: one store at a time',
  ],
  [
    'two replicas of an embedded store',
    { ...embedded, replicas: 2 },
    'replicas is 2 with store.type embedded: one process holds the folder of that store; for several use etcd',
  ],
  [
    'an autoscaler of an embedded store',
    { ...embedded, autoscaling: { enabled: true } },
    'autoscaling.enabled with store.type embedded: one process holds the folder of that store; for several use etcd',
  ],
  [
    'replicas beside an autoscaler',
    { ...etcd, replicas: 2, autoscaling: { enabled: true } },
    'replicas and autoscaling.enabled are both given: either you say how many there are, or the autoscaler does',
  ],
  [
    'more at least than at most',
    { ...etcd, autoscaling: { enabled: true, minReplicas: 7 } },
    'autoscaling.minReplicas is more than autoscaling.maxReplicas',
  ],
  [
    'an autoscaler that measures nothing',
    { ...etcd, autoscaling: { enabled: true }, resources: { requests: { cpu: null } } },
    'autoscaling.enabled without resources.requests.cpu: there would be nothing that targetCPU is a part of',
  ],
  [
    'mail kept and sent',
    { ...embedded, mail: { mock: true, from: 'a@example.org', smtp: { existingSecret: 'mail' } } },
    'mail.mock and mail.smtp.existingSecret are both given: mail is either kept or sent',
  ],
  [
    'mock mail on etcd',
    { ...etcd, mail: { mock: true } },
    'mail.mock is refused with etcd or a public base URL: anyone could read every code; give mail.allowMock if that is meant',
  ],
  [
    'mock mail in public',
    { ...embedded, baseURL: 'https://id.example.org' },
    'mail.mock is refused with etcd or a public base URL: anyone could read every code; give mail.allowMock if that is meant',
  ],
  [
    'no mail',
    { ...embedded, mail: {} },
    'mail.smtp.existingSecret is empty: give a Secret with the address of a mail server, or mail.mock to keep mails in the mock mailbox',
  ],
  [
    'a gateway that is not trusted',
    { ...etcd, gateway: { enabled: true, parentRefs: [{ name: 'public' }] } },
    'gateway.enabled without config.trustedProxies: without the networks it calls from, everybody would share its address, and its limits',
  ],
  [
    'an ingress that is not trusted',
    { ...etcd, ingress: { enabled: true } },
    'ingress.enabled without config.trustedProxies: without the networks it calls from, everybody would share its address, and its limits',
  ],
  [
    'a route that hangs on nothing',
    { ...etcd, gateway: { enabled: true }, config: { trustedProxies: ['10.0.0.0/8'] } },
    'gateway.parentRefs is empty: give the Gateway that the HTTPRoute hangs on',
  ],
  [
    'two certificates',
    {
      ...etcd,
      tls: {
        enabled: true,
        existingSecret: 'tls',
        certManager: { enabled: true, issuerRef: { name: 'own' } },
      },
    },
    'tls.existingSecret and tls.certManager.enabled are both given: one certificate at a time',
  ],
  [
    'a certificate without an issuer',
    { ...etcd, tls: { enabled: true, certManager: { enabled: true } } },
    'tls.certManager.issuerRef.name is empty: give the Issuer that signs the certificate',
  ],
  [
    'a certificate for nothing',
    { ...etcd, tls: { existingSecret: 'tls' } },
    'a certificate is given without tls.enabled: nothing would use it',
  ],
  [
    'replicas without a certificate',
    { ...etcd, tls: { enabled: true } },
    'tls.existingSecret is empty: every replica needs a certificate of the same authority; give a Secret with one, or tls.certManager',
  ],
  [
    'one port twice',
    { ...etcd, tls: { enabled: true, existingSecret: 'tls' }, service: { port: 443 } },
    'service.port and service.securePort are the same: give two',
  ],
  [
    'aggregation with one replica',
    { ...aggregated, replicas: 1 },
    'aggregation.enabled with one replica: while it restarts, discovery and the deletion of namespaces wait in the whole cluster; give two or more, on etcd',
  ],
  [
    'aggregation on an embedded store',
    { ...embedded, aggregation: { enabled: true, injectCAFrom: 'identity/serving' } },
    'aggregation.enabled with one replica: while it restarts, discovery and the deletion of namespaces wait in the whole cluster; give two or more, on etcd',
  ],
  [
    'aggregation that scales down to one',
    { ...aggregated, autoscaling: { enabled: true, minReplicas: 1 } },
    'aggregation.enabled with one replica: while it restarts, discovery and the deletion of namespaces wait in the whole cluster; give two or more, on etcd',
  ],
  [
    'aggregation that may be drained away',
    { ...aggregated, podDisruptionBudget: { enabled: false } },
    "aggregation.enabled without podDisruptionBudget.enabled: a drained node could take every replica away, and with them a part of the cluster's API",
  ],
  [
    'aggregation with no authority',
    { ...aggregated, aggregation: { enabled: true } },
    'aggregation.caBundle is empty: give the authority of the serving certificate, or aggregation.injectCAFrom, or tls.certManager',
  ],
  [
    'aggregation with two authorities',
    {
      ...aggregated,
      aggregation: { enabled: true, injectCAFrom: 'a/b', caBundle: '-----BEGIN CERTIFICATE-----' },
    },
    'aggregation.caBundle, aggregation.injectCAFrom and tls.certManager each say which authority is believed: give one',
  ],
  [
    'aggregation as everybody',
    { ...aggregated, serviceAccount: { create: false } },
    'serviceAccount.name is empty: with aggregation the account is given a role, and "default" is everybody\'s',
  ],
  [
    'an authority for nothing',
    { ...etcd, aggregation: { injectCAFrom: 'a/b' } },
    'an authority is given without aggregation.enabled: nothing would use it',
  ],
  [
    'two that say whom to believe',
    { ...aggregated, frontProxy: { existingConfigMap: 'proxies' } },
    'aggregation.enabled and frontProxy.existingConfigMap are both given: either the cluster says which front proxies are believed, or you do',
  ],
  [
    'a front proxy without TLS',
    { ...embedded, frontProxy: { existingConfigMap: 'proxies' } },
    'frontProxy.existingConfigMap without tls.enabled: a front proxy proves itself by a certificate, over TLS alone',
  ],
  [
    'a front proxy of no authority',
    { ...embedded, frontProxy: { allowedNames: ['door'] } },
    'frontProxy.existingConfigMap is empty: without the authorities of its certificates no front proxy would be believed',
  ],
  ...['serviceMonitor', 'prometheusRule', 'dashboard'].map(
    (name) =>
      [
        `a ${name} without metrics`,
        { ...etcd, metrics: { [name]: { enabled: true } } },
        `metrics.${name}.enabled without metrics.enabled: there would be nothing to look at`,
      ] as const,
  ),
  [
    'metrics where people are served',
    { ...etcd, metrics: { enabled: true, port: 8080 } },
    'metrics.port is 8080, where people are served: give another',
  ],
  ...[
    'collector:4318',
    'http://',
    'http://user@collector:4318',
    'http://collector:4318/?tenant=1',
  ].map(
    (endpoint) =>
      [
        `the collector ${endpoint}`,
        { ...etcd, tracing: { endpoint } },
        `tracing.endpoint must be an address of http or https, such as http://collector.monitoring:4318; got ${endpoint}`,
      ] as const,
  ),
  [
    'headers for no collector',
    { ...etcd, tracing: { headers: { existingSecret: 'collector' } } },
    'tracing.headers.existingSecret is given without tracing.endpoint: nothing would be sent',
  ],
  [
    'a wall without a door',
    { ...etcd, networkPolicy: { enabled: true, to: open } },
    'networkPolicy.from.gateway is empty: no one could reach the pods; give the peers that bring people here',
  ],
  [
    'metrics behind a wall',
    {
      ...etcd,
      metrics: { enabled: true },
      networkPolicy: { enabled: true, from: { gateway: closed.gateway }, to: open },
    },
    'networkPolicy.from.monitoring is empty: no one could read the metrics; give the peers that scrape them',
  ],
  [
    'a store beyond a wall',
    { ...etcd, networkPolicy: { enabled: true, from: closed, to: { smtp: open.smtp } } },
    'networkPolicy.to.etcd is empty: the store could not be reached; give the peers that are its members',
  ],
  [
    'a mail server beyond a wall',
    { ...etcd, networkPolicy: { enabled: true, from: closed, to: { etcd: open.etcd } } },
    'networkPolicy.to.smtp is empty: no mail could be sent; give the peers that are the mail server',
  ],
  [
    'a collector beyond a wall',
    {
      ...etcd,
      tracing: { endpoint: 'http://collector:4318' },
      networkPolicy: { enabled: true, from: closed, to: open },
    },
    'networkPolicy.to.collector is empty: no trace could be sent; give the peers that are the collector',
  ],
  [
    'a cluster beyond a wall',
    { ...aggregated, networkPolicy: { enabled: true, from: closed, to: open } },
    'networkPolicy.to.apiServer is empty: whom to believe could not be asked of the cluster; give the addresses of its API server',
  ],
  [
    'a flag that a value speaks for',
    { ...embedded, extraArgs: ['--data-dir=/data'] },
    'extraArgs: --data-dir is said by another value already',
  ],
  [
    'a flag that config speaks for',
    { ...embedded, extraArgs: ['--bind-address=::'] },
    'extraArgs: --bind-address is said by another value already',
  ],
  [
    'a variable that a value speaks for',
    { ...embedded, extraEnv: [{ name: 'VESTIBULE_SMTP_URL_FILE', value: '/x' }] },
    'extraEnv: VESTIBULE_SMTP_URL_FILE is said by another value already',
  ],
  [
    'an end that is too short',
    { ...embedded, config: { shutdownDelayDuration: '10500ms' } },
    'terminationGracePeriodSeconds is 35, but a pod needs config.shutdownDelayDuration and 25 s more to end: give 36 or more',
  ],
  [
    'a longer delay and a shorter end',
    { ...embedded, config: { shutdownDelayDuration: '2m' }, terminationGracePeriodSeconds: 120 },
    'terminationGracePeriodSeconds is 120, but a pod needs config.shutdownDelayDuration and 25 s more to end: give 145 or more',
  ],
  [
    "a volume of the chart's own",
    { ...embedded, extraVolumes: [{ name: 'data', emptyDir: {} }] },
    "extraVolumes: data is the chart's own: give another",
  ],
  [
    "a mount of the chart's own",
    { ...embedded, extraVolumeMounts: [{ name: 'more', mountPath: '/var/lib/vestibule/' }] },
    "extraVolumeMounts: /var/lib/vestibule is the chart's own: give another",
  ],
  [
    "a container of the chart's own",
    { ...embedded, initContainers: [{ name: 'vestibule', image: 'x' }] },
    "initContainers: vestibule is the chart's own: give another",
  ],
  [
    'a variable twice',
    {
      ...embedded,
      extraEnv: [
        { name: 'TZ', value: 'UTC' },
        { name: 'TZ', value: 'UTC' },
      ],
    },
    'extraEnv: TZ is given twice',
  ],
  [
    'a collector as a variable',
    {
      ...embedded,
      extraEnv: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://collector:4318' }],
    },
    'extraEnv: OTEL_EXPORTER_OTLP_ENDPOINT is made of tracing.endpoint: give it there',
  ],
  [
    'options of Node as a variable',
    { ...embedded, extraEnv: [{ name: 'NODE_OPTIONS', value: '--inspect' }] },
    'extraEnv: NODE_OPTIONS is made of resources.limits.memory and nodeOptions: give it there',
  ],
];
