import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Awaitable } from '../registry/kind.js';
import { noSuchPath, type StatusError } from '../registry/status/status.js';
import { BoundedMap } from '../security/bounded-map.js';
import { hsts } from '../security/hsts.js';
import { type EncodedContent, encodeContent } from './codec/content-encoding.js';
import { isNavigation } from './http/headers.js';
import type { ApiRequest, ApiResponse } from './http/message.js';
import { errorHeaders } from './http/response.js';

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};
const shells: Record<string, string> = {
  interaction: 'signin.html',
  mailbox: 'mailbox.html',
  account: 'account.html',
  policy: 'policy.html',
  recovery: 'recovery.html',
  console: 'console.html',
  invitation: 'invitation.html',
};

/** The headers of every page shell (docs/design/ui.md#page-headers). */
const pagePolicy = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
];
const pageHeaders = [
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Referrer-Policy',
  'same-origin',
  'X-Content-Type-Options',
  'nosniff',
  'Permissions-Policy',
  'publickey-credentials-get=(self), publickey-credentials-create=(self), accelerometer=(), camera=(), display-capture=(), fullscreen=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()',
];

/**
 * Preloads the page's first API calls. Mode and credentials must equal those of the script's fetch,
 * which then uses this response.
 */
const preload = (path: string, version: string): string[] => {
  const [, page, name] = path.split('/');
  return [...(page === 'interaction' ? [`interactions/${name}`] : []), 'appearances/default']
    .map((object) => `</api/${version}/${object}>; rel=preload; as=fetch; crossorigin`)
    .flatMap((link) => ['Link', link]);
};

/** The files that are generated while the service runs. */
interface GeneratedAssets {
  /** `stylesheet` is the path of the one that pages load besides their own. */
  readonly current: { readonly stylesheet: string | undefined };
  asset(path: string): Promise<{ readonly type: string; readonly body: Buffer } | undefined>;
}

/** The policy of generated files, some of which come from uploads. */
const generatedPolicy = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];

/** Returns a page that loads one more style sheet. */
const withStyleSheet = (page: string, path: string): string =>
  page.replace('</head>', `<link rel="stylesheet" href="${path}">\n</head>`);

/** Compresses a page that was changed. */
function compressed(page: string): EncodedContent {
  const html = Buffer.from(page);
  return { plain: html, br: brotliCompressSync(html), gzip: gzipSync(html) };
}

/** Writes what a page says before its script runs in the language of the person. */
interface ShellLanguages {
  languageOf(request: ApiRequest): string;
  translate(page: string, language: string): string;
}

/** Reads a file with its compressed forms. */
function read(path: string): EncodedContent {
  const sibling = (end: string): Buffer | undefined =>
    existsSync(path + end) ? readFileSync(path + end) : undefined;
  return { plain: readFileSync(path), br: sibling('.br'), gzip: sibling('.gz') };
}

/** The URL paths of the files that all pages share. */
export interface SharedAssets {
  readonly stylesheet: string;
  readonly icon: string;
}

/** The page shells and hashed assets that ui/ builds, read once at start. */
export class Pages {
  readonly #shells = new Map<string, EncodedContent>();
  readonly #assets = new Map<string, EncodedContent & { type: string }>();
  readonly #common: readonly string[];
  readonly #appearance: GeneratedAssets;
  readonly #version: string;
  readonly #languages: ShellLanguages | undefined;
  /** The shells in a language with the style sheet of the appearance. */
  readonly #changed = new BoundedMap<string, EncodedContent>(200);
  /** The document for password managers (W3C, a well-known URL for passkey endpoints). */
  readonly #passkeyEndpoints: EncodedContent;

  /** `mailbox`: whether the mock mailbox is served; `version`: that of the API. */
  constructor(
    folder: string,
    options: {
      mailbox: boolean;
      baseURL: string;
      version: string;
      appearance: GeneratedAssets;
      shells?: ShellLanguages;
    },
  ) {
    this.#appearance = options.appearance;
    this.#version = options.version;
    this.#languages = options.shells;
    const account = `${options.baseURL}/account`;
    this.#passkeyEndpoints = {
      plain: Buffer.from(JSON.stringify({ enroll: account, manage: account })),
      br: undefined,
      gzip: undefined,
    };
    this.#common = [...pageHeaders, ...hsts(options.baseURL)];
    const files = readdirSync(folder);
    for (const [path, file] of Object.entries(shells)) {
      if (files.includes(file) && (path !== 'mailbox' || options.mailbox)) {
        this.#shells.set(path, read(join(folder, file)));
      }
    }
    const assets = files.includes('assets') ? readdirSync(join(folder, 'assets')) : [];
    for (const name of assets) {
      if (!/\.(br|gz)$/.test(name)) {
        this.#assets.set(`/assets/${name}`, {
          ...read(join(folder, 'assets', name)),
          type: types[extname(name)] ?? 'application/octet-stream',
        });
      }
    }
  }

  /** The paths of the files that server-rendered pages share. */
  get shared(): SharedAssets {
    const find = (pattern: RegExp): string | undefined =>
      [...this.#assets.keys()].find((path) => pattern.test(path));
    return {
      stylesheet: find(/\/style-[^/]+\.css$/) ?? '/assets/style.css',
      icon: find(/\/icon-[^/]+\.svg$/) ?? '/assets/icon.svg',
    };
  }

  /** Sends the shell of a path. It is the same for every interaction, and fetches its data. */
  page(req: ApiRequest, res: ApiResponse, path: string): void {
    if (path === '/') {
      return void res
        .writeHead(303, [
          'Location',
          '/account',
          'Content-Length',
          '0',
          'Cache-Control',
          'no-store',
          ...this.#headers(req),
        ])
        .end();
    }
    if (path === '/.well-known/passkey-endpoints') {
      return this.#write(req, res, this.#passkeyEndpoints, [
        'Content-Type',
        'application/json',
        'Cache-Control',
        'public, max-age=3600',
        ...this.#headers(req),
      ]);
    }
    const shell = this.#shell(path.split('/')[1] ?? '', req);
    if (!shell) throw noSuchPath();
    this.#write(req, res, shell, [
      'Content-Type',
      'text/html; charset=utf-8',
      'Cache-Control',
      'no-store',
      ...preload(path, this.#version),
      ...this.#headers(req),
    ]);
  }

  /** Returns a shell in the language of the person, with the style sheet of the appearance if any. */
  #shell(name: string, req: ApiRequest): EncodedContent | undefined {
    const shell = this.#shells.get(name);
    const { stylesheet } = this.#appearance.current;
    const language = this.#languages?.languageOf(req) ?? 'en';
    if (!shell || (stylesheet === undefined && language === 'en')) return shell;
    return this.#changed.getOrCreate(`${name} ${language} ${stylesheet}`, () => {
      const page = shell.plain.toString();
      const styled = stylesheet === undefined ? page : withStyleSheet(page, stylesheet);
      return compressed(language === 'en' ? styled : this.#languages!.translate(styled, language));
    });
  }

  /** Sends an error page with the headers of its Status. */
  error(req: ApiRequest, res: ApiResponse, status: StatusError, html: string): void {
    const body = Buffer.from(html);
    res.writeHead(status.code, [
      'Content-Type',
      'text/html; charset=utf-8',
      'Cache-Control',
      'no-store',
      ...this.#headers(req),
      ...errorHeaders(status),
      'Content-Length',
      String(body.length),
    ]);
    res.end(req.method === 'HEAD' ? undefined : body);
  }

  /** Sends a hashed asset, which never changes. */
  asset(req: ApiRequest, res: ApiResponse, path: string): Awaitable<void> {
    const asset = this.#assets.get(path);
    if (!asset) return this.#generatedAsset(req, res, path);
    this.#writeAsset(req, res, asset, asset.type);
  }

  async #generatedAsset(req: ApiRequest, res: ApiResponse, path: string): Promise<void> {
    const asset = await this.#appearance.asset(path);
    if (!asset) throw noSuchPath();
    this.#writeAsset(req, res, { plain: asset.body }, asset.type, generatedPolicy);
  }

  #writeAsset(
    req: ApiRequest,
    res: ApiResponse,
    content: EncodedContent,
    type: string,
    policy?: readonly string[],
  ): void {
    this.#write(req, res, content, [
      'Content-Type',
      type,
      'Cache-Control',
      'public, max-age=31536000, immutable',
      ...this.#headers(req, policy),
    ]);
  }

  #headers(req: ApiRequest, policy: readonly string[] = pagePolicy): string[] {
    return [...policy, ...this.#common, 'Audit-ID', req.auditID];
  }

  #write(req: ApiRequest, res: ApiResponse, all: EncodedContent, headers: string[]): void {
    const { body, headers: own } = encodeContent(all, req.headers['accept-encoding']);
    res.writeHead(200, [...headers, ...own, 'Content-Length', String(body.length)]);
    res.end(req.method === 'HEAD' ? undefined : body);
  }
}

/** Reports whether a person opens a page outside the API. */
export const isPageVisit = (request: ApiRequest): boolean =>
  isNavigation(request) &&
  !/^\/(apis?|openapi|version|livez|readyz|healthz)([/?]|$)/.test(request.url!);
