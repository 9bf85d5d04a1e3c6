import { z } from 'zod';
import type { KindObject } from '../../registry/kind.js';
import { describePattern } from '../../registry/schema/pattern.js';
import { invalidValue } from '../../registry/status/field-errors.js';
import type { Cause } from '../../registry/status/status.js';
import { alignLastApplied } from '../../registry/store/secret-fields.js';
import type { Store } from '../../registry/store/store.js';
import { defineKind } from '../define-kind.js';
import { line, webAddress } from '../signin/schema-types.js';
import { isWebUrl } from '../signin/web-url.js';
import { encodeLogo, logoPath, maxLogoBytes } from './logo.js';
import { accentFault } from './palette.js';

/** The name of the one Appearance. */
export const appearanceName = 'default';

const links = ['supportURI', 'privacyPolicyURI', 'termsOfServiceURI'] as const;

const AppearanceSpec = z.object({
  displayName: line(64)
    .optional()
    .describe('The name of this deployment. If unset, the host of the base URL is shown.'),
  logo: z
    .string()
    .min(1)
    .max(maxLogoBytes * 2)
    .base64()
    .optional()
    .describe(
      'A PNG or JPEG image in base64, at most 512 x 512 pixels and 256 KiB. Once it is stored, the ' +
        'path of the image that is served, encoded again as PNG.',
    ),
  accentColor: z
    .string()
    .regex(describePattern(/^#[0-9A-Fa-f]{6}$/, 'must be a colour such as #2b4fd8'))
    .optional()
    .describe(
      'The colour of links and main buttons on light pages, in the form #rrggbb. Dark pages have a ' +
        'lighter form of it.',
    ),
  supportURI: webAddress().optional().describe('Where people find help.'),
  privacyPolicyURI: webAddress().optional().describe('Privacy policy.'),
  termsOfServiceURI: webAddress().optional().describe('Terms of service.'),
});

/** What an Appearance says. */
export type AppearanceSpec = z.infer<typeof AppearanceSpec>;

/** The service's own part of an Appearance. */
interface Internal {
  /** The logo as PNG, in base64. */
  logo?: string;
}

type AppearanceObject = KindObject<AppearanceSpec, object, Internal | undefined>;

/** The name, logo, colour and links of this deployment: one object, which anyone may read. */
export const Appearance = defineKind({
  kind: 'Appearance',
  resource: 'appearances',
  description:
    'The name, logo, colour and links of this deployment, in one object named default. Anyone may ' +
    'read it.',
  verbs: ['get', 'list', 'watch', 'patch', 'update'],
  isPublic: true,
  cached: true,
  spec: AppearanceSpec,
  status: z.object({}),
  internal: z.object({ logo: z.string().optional() }).optional(),
  columns: {
    'Display-Name': ({ spec }) => spec.displayName ?? '',
    Accent: ({ spec }) => spec.accentColor ?? '',
  },
  strategy: {
    async default(next, old) {
      const { accentColor, logo } = next.spec;
      // The types of a manifest are checked only after this.
      if (typeof accentColor === 'string') next.spec.accentColor = accentColor.toLowerCase();
      if (logo === undefined) {
        delete next.internal;
      } else if (typeof logo === 'string' && logo !== old?.spec.logo) {
        await storeLogo(next, logo);
      }
    },
    validate: async ({ metadata, spec, internal }) => [
      ...(metadata.name === appearanceName
        ? []
        : [invalidValue('metadata.name', `must be ${appearanceName}`)]),
      ...(await logoFaults(spec.logo, internal)),
      ...faultsOf('spec.accentColor', spec.accentColor && accentFault(spec.accentColor)),
      ...links.flatMap((field) => linkFaults(field, spec[field])),
    ],
  },
});

/**
 * Stores an uploaded logo and replaces the upload by the path of the logo, also where kubectl keeps
 * a copy of it, because every page reads the object. Leaves a wrong upload to validation.
 */
async function storeLogo(next: AppearanceObject, upload: string): Promise<void> {
  const encoded = await encodeLogo(upload);
  if ('fault' in encoded) return;
  const path = logoPath(encoded.png);
  next.internal = { logo: encoded.png.toString('base64') };
  next.spec.logo = path;
  alignLastApplied(Appearance, next, [['logo']]);
}

/** Returns the stored logo; undefined if there is none. */
export const storedLogo = (internal: Internal | undefined): Buffer | undefined =>
  internal?.logo === undefined ? undefined : Buffer.from(internal.logo, 'base64');

/** A logo that is not the path of the stored one was not accepted. */
async function logoFaults(
  logo: string | undefined,
  internal: Internal | undefined,
): Promise<Cause[]> {
  const stored = storedLogo(internal);
  if (logo === undefined || (stored && logo === logoPath(stored))) return [];
  const encoded = await encodeLogo(logo);
  return faultsOf('spec.logo', 'fault' in encoded && encoded.fault);
}

const linkFaults = (field: (typeof links)[number], uri: string | undefined): Cause[] =>
  uri === undefined || isWebUrl(uri)
    ? []
    : [invalidValue(`spec.${field}`, 'must be an https address, or http on loopback')];

const faultsOf = (field: string, fault: string | false | undefined): Cause[] =>
  fault ? [invalidValue(field, fault)] : [];

/** Creates the Appearance if it is absent, so that it can always be read; runs once at start. */
export async function declareAppearance(store: Store): Promise<void> {
  await store.change(store.systemCall(), async (tx) => {
    if (!(await tx.get(Appearance, appearanceName))) {
      await tx.create(Appearance, { metadata: { name: appearanceName }, spec: {} });
    }
  });
}
