import { createHash } from 'node:crypto';
import type { MailAppearance } from '../../mail/layout.js';
import type { ObjectOf } from '../../registry/kind.js';
import { Informer } from '../../registry/store/informer.js';
import type { Store } from '../../registry/store/store.js';
import { Appearance, type AppearanceSpec, appearanceName, storedLogo } from './appearance.js';
import { accentStyleSheet } from './palette.js';

/** A file that is generated from the Appearance. */
interface GeneratedAsset {
  readonly type: string;
  readonly body: Buffer;
}

/** The Appearance in force, and what is served for it. */
export interface CurrentAppearance {
  readonly spec: AppearanceSpec;
  /** The same for mails, with the file of the logo. */
  readonly mail: MailAppearance;
  /** The path of the style sheet with the accent colour; undefined without one. */
  readonly stylesheet: string | undefined;
  readonly assets: ReadonlyMap<string, GeneratedAsset>;
}

const noAppearance: CurrentAppearance = {
  spec: {},
  mail: {},
  stylesheet: undefined,
  assets: new Map(),
};

function appearanceOf({ spec, internal }: ObjectOf<typeof Appearance>): CurrentAppearance {
  const assets = new Map<string, GeneratedAsset>();
  const logo = storedLogo(internal);
  if (logo && spec.logo) assets.set(spec.logo, { type: 'image/png', body: logo });
  const mail = { ...spec, logoFile: logo };
  if (spec.accentColor === undefined) return { spec, mail, stylesheet: undefined, assets };
  const body = Buffer.from(accentStyleSheet(spec.accentColor));
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  const stylesheet = `/assets/appearance-${hash}.css`;
  assets.set(stylesheet, { type: 'text/css; charset=utf-8', body });
  return { spec, mail, stylesheet, assets };
}

/** The Appearance with its logo and style sheet, updated from the watch cache. */
export class AppearanceIndex {
  #current = noAppearance;
  readonly #informer: Informer<typeof Appearance>;

  constructor(store: Store) {
    this.#informer = new Informer(store, Appearance, (before, after) => {
      if ((after ?? before)!.metadata.name === appearanceName) {
        this.#current = after ? appearanceOf(after) : noAppearance;
      }
    });
  }

  /** Loads the Appearance and follows it; call it after the watch cache has started. */
  start(): Promise<void> {
    return this.#informer.start();
  }

  stop(): void {
    this.#informer.stop();
  }

  /** The Appearance in force; the same object until it changes. */
  get current(): CurrentAppearance {
    return this.#current;
  }

  /** Returns a generated file; waits for this replica's own commits before it returns undefined. */
  async asset(path: string): Promise<GeneratedAsset | undefined> {
    if (!this.#current.assets.has(path)) await this.#informer.waitUntilFresh();
    return this.#current.assets.get(path);
  }
}
