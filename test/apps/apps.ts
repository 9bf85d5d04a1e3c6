import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../storage/etcd-server.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { apache } from './apache.js';
import type { Browser, Page } from './browser.js';
import { gitea } from './gitea.js';
import { miniflux } from './miniflux.js';
import { openWebUI } from './open-webui.js';
import {
  goProgram,
  npmPackages,
  python,
  quarkusJar,
  type Registry,
  springClasses,
} from './packages.js';
import { type Command, type Place, startDjango } from './place.js';
import { callAPI } from './resource-server.js';
import { signInToVault, vault } from './vault.js';

/** A program that no one here wrote, as its own quick start connects it. */
export interface App {
  readonly name: string;
  readonly registry: Registry;
  /** The packages whose versions the table shows. */
  readonly packages: readonly string[];
  /** The page of `docs/how-to/applications`, or the folder beside this file, with its Client. */
  readonly page?: string;
  readonly folder?: string;
  /** The program of the console's templates that it is, with their Client and settings. */
  readonly template?: string;
  /** Where the files of this program are on a page that has several. */
  readonly part?: string;
  /** The names of its objects, if the page has more. */
  readonly objects?: readonly string[];
  /** Programs that must be on the path. */
  readonly needs?: readonly string[];
  /** Returns what starts it in a folder that has its files. */
  readonly start: (place: Place) => Promise<Command>;
  /** Where its sign-in begins; by default its first page. */
  readonly path?: string;
  /** What a person does from there, if not only that. */
  readonly act?: (browser: Browser, page: Page, place: Place) => Promise<Page>;
  /** What its page shows of the person; by default their address. */
  readonly shows?: readonly string[];
}

const node = async ({ folder }: Place): Promise<Command> => {
  symlinkSync(join(await npmPackages(), 'node_modules'), join(folder, 'node_modules'));
  return { program: process.execPath, args: ['app.mjs'] };
};

const django = async ({ folder, port }: Place): Promise<Command> => {
  const program = await python();
  startDjango(program, folder);
  return { program, args: ['manage.py', 'runserver', '--noreload', `localhost:${port}`] };
};

const flask = async ({ port }: Place): Promise<Command> => ({
  program: await python(),
  args: ['-m', 'flask', 'run', '--port', String(port)],
  environment: { OAUTHLIB_INSECURE_TRANSPORT: '1' }, // The service of a test has no TLS.
});

const jupyterHub = async ({ port }: Place): Promise<Command> => {
  const [hubPort, proxyPort] = await freePorts(2);
  const modules = join(await npmPackages(), 'node_modules');
  const settings = {
    'JupyterHub.bind_url': `http://localhost:${port}`,
    'JupyterHub.hub_bind_url': `http://localhost:${hubPort}`,
    'JupyterHub.redirect_to_server': 'False',
    'ConfigurableHTTPProxy.api_url': `http://localhost:${proxyPort}`,
    'ConfigurableHTTPProxy.command': join(modules, '.bin/configurable-http-proxy'),
  };
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  return { program: await python(), args: ['-m', 'jupyterhub', ...args], ready: '/hub/health' };
};

const spring =
  (part: string) =>
  async ({ folder, port }: Place): Promise<Command> => {
    const classes = await springClasses(folder);
    return {
      program: 'java',
      args: ['-cp', classes, `${part}.Application`, `--server.port=${port}`],
    };
  };

const quarkus = async ({ folder, port }: Place): Promise<Command> => ({
  program: 'java',
  args: [`-Dquarkus.http.port=${port}`, '-jar', await quarkusJar(folder)],
});

const go = async ({ folder }: Place): Promise<Command> => ({
  program: await goProgram(folder),
  args: [],
});

const oauth2Proxy = async (): Promise<Command> => ({
  program: toolProgram('oauth2-proxy')!,
  args: ['--config', 'oauth2-proxy.cfg'],
});

const rack = async ({ port }: Place): Promise<Command> => ({
  program: 'puma',
  args: ['-b', `tcp://127.0.0.1:${port}`, 'config.ru'],
});

/** Every program of the matrix. */
export const apps: readonly App[] = [
  {
    name: 'openid-client 5',
    registry: 'npm',
    packages: ['openid-client-5'],
    folder: 'openid-client-5',
    start: node,
  },
  {
    name: 'openid-client 6',
    registry: 'npm',
    packages: ['openid-client'],
    folder: 'openid-client-6',
    start: node,
  },
  {
    name: 'Passport: passport-openidconnect',
    registry: 'npm',
    packages: ['passport-openidconnect'],
    folder: 'passport',
    start: node,
    path: '/login',
  },
  {
    name: 'Express: express-openid-connect',
    registry: 'npm',
    packages: ['express-openid-connect'],
    page: 'express.md',
    start: node,
  },
  {
    name: 'Auth.js',
    registry: 'npm',
    packages: ['@auth/express'],
    page: 'authjs.md',
    start: node,
    path: '/auth/signin',
    act: (browser, page) => browser.submit(page, /signin\/vestibule$/),
  },
  {
    name: 'Better Auth: generic OAuth',
    registry: 'npm',
    packages: ['better-auth'],
    folder: 'better-auth',
    start: node,
    path: '/sign-in',
  },
  {
    name: 'Fastify: @fastify/oauth2',
    registry: 'npm',
    packages: ['@fastify/oauth2'],
    folder: 'fastify-oauth2',
    start: node,
    path: '/login',
  },
  {
    name: 'Grant',
    registry: 'npm',
    packages: ['grant'],
    folder: 'grant',
    start: node,
    path: '/connect/vestibule',
  },
  {
    name: 'Django: django-allauth',
    registry: 'PyPI',
    packages: ['django-allauth'],
    page: 'django.md',
    part: 'allauth',
    objects: ['library'],
    start: django,
    path: '/accounts/oidc/vestibule/login/',
    act: (browser, page) => browser.submit(page, /login\/?$/),
  },
  {
    name: 'Django: mozilla-django-oidc',
    registry: 'PyPI',
    packages: ['mozilla-django-oidc'],
    page: 'django.md',
    part: 'mozilla',
    objects: ['archive'],
    start: django,
    path: '/accounts/profile/',
  },
  {
    name: 'Django: Python Social Auth',
    registry: 'PyPI',
    packages: ['social-auth-app-django'],
    folder: 'social-auth',
    start: django,
    act: (browser, page) => browser.submit(page, /login\/oidc\/$/),
    shows: ['"username": "ada"'],
  },
  {
    name: 'Flask: Authlib',
    registry: 'PyPI',
    packages: ['Authlib'],
    page: 'flask.md',
    start: flask,
  },
  {
    name: 'Flask: Flask-Dance',
    registry: 'PyPI',
    packages: ['Flask-Dance'],
    folder: 'flask-dance',
    start: flask,
  },
  {
    name: 'JupyterHub: oauthenticator',
    registry: 'PyPI',
    packages: ['jupyterhub', 'oauthenticator'],
    page: 'jupyterhub.md',
    start: jupyterHub,
    path: '/hub/oauth_login',
  },
  {
    name: 'Open WebUI',
    registry: 'PyPI',
    packages: ['open-webui'],
    template: 'open-webui',
    needs: ['open-webui'],
    start: openWebUI,
    path: '/oauth/oidc/login',
    act: (browser, _, place) => browser.open(`${place.url}/api/v1/auths/`),
    shows: ['"email":"ada@example.test"', '"name":"ada"'],
  },
  {
    name: 'Spring Security: sign-in',
    registry: 'Maven',
    packages: ['spring-boot'],
    page: 'spring.md',
    part: 'login',
    objects: ['meadow'],
    start: spring('login'),
  },
  {
    name: 'Spring Security: sign-in with a key',
    registry: 'Maven',
    packages: ['spring-boot'],
    page: 'spring.md',
    part: 'key',
    objects: ['orchard'],
    start: spring('key'),
  },
  {
    name: 'Spring Security: API with opaque tokens',
    registry: 'Maven',
    packages: ['spring-boot'],
    page: 'spring.md',
    part: 'opaque',
    objects: ['orders-api', 'orders', 'orders-app'],
    start: spring('opaque'),
    act: (browser, _, place) =>
      callAPI(browser, place, {
        client: 'orders-app',
        audience: 'https://orders.example.org',
        scope: 'openid orders.read',
      }),
    shows: ['"orders.read"'],
  },
  {
    name: 'Spring Security: API with JWT access tokens',
    registry: 'Maven',
    packages: ['spring-boot'],
    page: 'spring.md',
    part: 'jwt',
    objects: ['stock', 'stock-app'],
    start: spring('jwt'),
    act: (browser, _, place) =>
      callAPI(browser, place, {
        client: 'stock-app',
        audience: 'https://stock.example.org',
        scope: 'openid stock.read',
      }),
    shows: ['stock.read'],
  },
  {
    name: 'Quarkus OIDC',
    registry: 'Maven',
    packages: ['quarkus-oidc'],
    page: 'quarkus.md',
    start: quarkus,
  },
  {
    name: 'Go: go-oidc',
    registry: 'Go',
    packages: ['github.com/coreos/go-oidc/v3'],
    page: 'go.md',
    start: go,
  },
  {
    name: 'Go: goth (Gitea, Forgejo)',
    registry: 'Go',
    packages: ['github.com/markbates/goth'],
    folder: 'goth',
    start: go,
    path: '/auth/openid-connect',
  },
  {
    name: 'Go: zitadel/oidc',
    registry: 'Go',
    packages: ['github.com/zitadel/oidc/v3'],
    folder: 'zitadel-oidc',
    start: go,
    path: '/login',
  },
  {
    name: 'oauth2-proxy',
    registry: 'Go',
    packages: ['github.com/oauth2-proxy/oauth2-proxy/v7'],
    page: 'oauth2-proxy.md',
    start: oauth2Proxy,
    path: '/oauth2/start?rd=%2Foauth2%2Fuserinfo',
  },
  {
    name: 'Miniflux',
    registry: 'Go',
    packages: ['miniflux.app/v2'],
    template: 'miniflux',
    needs: ['initdb'],
    start: miniflux,
    path: '/oauth2/oidc/redirect',
    act: (browser, _, place) => browser.open(`${place.url}/keys`),
    shows: ['<strong>ada</strong>'],
  },
  {
    name: 'Gitea',
    registry: 'Go',
    packages: ['code.gitea.io/gitea'],
    template: 'gitea',
    needs: ['gcc', 'git'],
    start: gitea,
    path: '/user/oauth2/vestibule',
    act: (browser, _, place) => browser.open(`${place.url}/user/settings`),
    shows: ['value="ada"', 'ada@example.test'],
  },
  {
    name: 'Vault',
    registry: 'Go',
    packages: ['github.com/hashicorp/vault'],
    template: 'vault',
    start: vault,
    path: '/v1/sys/health',
    act: (browser, _, place) => signInToVault(browser, place),
    shows: ['"display_name":"oidc-ada@example.test"'],
  },
  {
    name: 'Apache httpd: mod_auth_openidc',
    registry: 'Debian',
    packages: ['libapache2-mod-auth-openidc'],
    page: 'apache.md',
    needs: ['apache2'],
    start: apache,
  },
  {
    name: 'Ruby: omniauth_openid_connect (GitLab)',
    registry: 'Debian',
    packages: ['ruby-omniauth-openid-connect'],
    folder: 'omniauth',
    needs: ['puma'],
    start: rack,
    act: (browser, page) => browser.submit(page, /openid_connect$/),
  },
];
