import type { KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { vestibule } from '../support/command.js';
import { exchange, type Tab } from '../support/people/tab.js';
import type { Rendered } from './helm.js';
import type { Held, LocalPod } from './pod.js';
import type { Surroundings } from './surroundings.js';

const plain = { plain: true } as const;
const pauseMs = 100;

/** The container of a pod that runs, or how it ended. */
interface Running {
  readonly service?: LocalPod;
  ended?: number | null;
  ready: boolean;
  /** When `ready` last changed. */
  since: string;
}

/**
 * What a scheduler and a kubelet do: binds each pod of a cluster to a node, runs its command as a
 * process of this machine, reports whether it is ready, and ends it when it is deleted. The command
 * is one of this service: `serve`, or `healthcheck` of a service that runs here.
 */
export class Kubelet {
  /** The least ready pods of the services at any time since this was set to infinity. */
  leastReady = Infinity;
  readonly #admin: Tab;
  readonly #here: Surroundings;
  readonly #running = new Map<string, Running>();
  readonly #done: Promise<void>;
  #isOver = false;

  constructor(cluster: KubeAPIServer, here: Surroundings) {
    this.#admin = cluster.as('admin');
    this.#here = here;
    this.#done = this.#run();
  }

  /** Ends its loop; throws what it failed with. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  /** Where a service of a namespace is that runs here and is ready. */
  async urlOf(namespace: string): Promise<string> {
    const { body } = await this.#admin.get(`/api/v1/namespaces/${namespace}/pods`, plain).is(200);
    for (const { metadata } of body.items) {
      const { service, ready } = this.#running.get(metadata.uid) ?? {};
      if (service && ready) return (await service.ready)[1]!;
    }
    throw new Error(`no pod of ${namespace} is ready`);
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const { body } = await this.#admin.get('/api/v1/pods', plain).is(200);
      for (const pod of body.items) await this.#sync(pod);
      const ready = [...this.#running.values()].filter((one) => one.service && one.ready).length;
      this.leastReady = Math.min(this.leastReady, ready);
      await new Promise((resolve) => {
        setTimeout(resolve, pauseMs);
      });
    }
  }

  async #sync(pod: Rendered): Promise<void> {
    const { uid, deletionTimestamp } = pod.metadata as Metadata;
    const running = this.#running.get(uid);
    if (deletionTimestamp !== undefined) {
      await running?.service?.stop();
      this.#running.delete(uid);
      const now = { gracePeriodSeconds: 0, preconditions: { uid } };
      await this.#admin.send('DELETE', pathOf(pod), { ...plain, ...json(now) });
      return;
    }
    if (!running) return this.#begin(pod);
    const isReady = running.service ? await answers(running.service, pod) : false;
    if (isReady === running.ready && running.ended === undefined) return;
    running.since = isReady === running.ready ? running.since : timestamp();
    running.ready = isReady;
    await this.#report(pod, running);
  }

  /** Starts a pod; one that wants what is not there yet is tried again. */
  async #begin(pod: Rendered): Promise<void> {
    const { uid, name, namespace } = pod.metadata as Metadata;
    if (!pod.spec.nodeName) {
      await this.#admin
        .post(
          `${pathOf(pod)}/binding`,
          {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name, namespace },
            target: { apiVersion: 'v1', kind: 'Node', name: 'here' },
          },
          plain,
        )
        .is(201);
    }
    const running: Running = { ready: false, since: timestamp() };
    const { args } = pod.spec.containers[0];
    if (args[0] === 'healthcheck') {
      const url = await this.urlOf(namespace);
      const own = args.map((arg: string) => arg.replace(/^--url=.*/, `--url=${url}`));
      running.ended = (await vestibule(own, {})).code;
    } else {
      const service = await this.#start(pod);
      if (!service) return;
      Object.assign(running, { service });
    }
    this.#running.set(uid, running);
    await this.#report(pod, running);
  }

  async #start(pod: Rendered): Promise<LocalPod | undefined> {
    const { namespace } = pod.metadata as Metadata;
    const of = async (resource: string): Promise<Rendered[]> =>
      (await this.#admin.get(`/api/v1/namespaces/${namespace}/${resource}`, plain).is(200)).body
        .items;
    const held: Held = Object.fromEntries(
      (await of('secrets')).map(({ metadata, data = {} }) => [
        metadata.name,
        Object.fromEntries(
          Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]),
        ),
      ]),
    );
    const configMaps = (await of('configmaps')).map((one) => ({ ...one, kind: 'ConfigMap' }));
    const workload = { kind: 'Deployment', spec: { template: { spec: pod.spec } } };
    try {
      return this.#here.start([workload as Rendered, ...configMaps], undefined, held);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('the pod wants')) return undefined;
      throw error;
    }
  }

  async #report(pod: Rendered, { ready, ended, since, service }: Running): Promise<void> {
    const [{ name, image }] = pod.spec.containers;
    const endedPhase = ended === 0 ? 'Succeeded' : 'Failed';
    const state = service
      ? { running: { startedAt: since } }
      : { terminated: { exitCode: ended, startedAt: since, finishedAt: since } };
    const condition = (type: string, isTrue: boolean) => ({
      type,
      status: isTrue ? 'True' : 'False',
      lastTransitionTime: since,
    });
    const status = {
      phase: service ? 'Running' : endedPhase,
      startTime: since,
      conditions: [
        condition('Initialized', true),
        condition('ContainersReady', ready),
        condition('Ready', ready),
      ],
      containerStatuses: [
        { name, image, imageID: image, ready, started: true, restartCount: 0, state },
      ],
    };
    await this.#admin
      .send('PATCH', `${pathOf(pod)}/status`, {
        ...plain,
        ...json({ status }, 'application/merge-patch+json'),
      })
      .is(200);
  }
}

interface Metadata {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly deletionTimestamp?: string;
}

const timestamp = (): string => new Date().toISOString().replace(/\.\d+/, '');
const json = (body: object, type = 'application/json') => ({
  body: JSON.stringify(body),
  headers: { 'content-type': type },
});
const pathOf = ({ metadata }: Rendered): string =>
  `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

/** Whether a service answers its pod's readiness probe. */
async function answers(service: LocalPod, pod: Rendered): Promise<boolean> {
  const [, url] = await Promise.race([service.ready, Promise.resolve([])]);
  if (url === undefined) return false;
  const { path } = pod.spec.containers[0].readinessProbe.httpGet;
  const { code } = await exchange(url, 'GET', path, {}).catch(() => ({ code: 0 }));
  return code === 200;
}
