import type { Row } from '../row.js';
import { get } from './1-get.js';
import { patchAlone, patchMany } from './2-patch.js';
import { patchOnEtcd } from './3-patch-etcd.js';
import { signInLibrary } from './4-oidc-provider.js';
import { bareAsked, bareRemembered } from './4x-bare.js';
import { signInBetterAuth } from './5-better-auth.js';
import { lessWork } from './5x-less-work.js';
import { assertion } from './6-assertion.js';
import { policy } from './7-policy.js';
import { listPage, listWhole } from './8-list.js';
import { getGrowth, watchStart } from './9-growth.js';
import { watching } from './10-watchers.js';
import { start } from './11-start.js';
import { memory } from './12-memory.js';
import { page } from './13-page.js';
import { signInDex, signInDexUnhashed } from './14-dex.js';
import { signInHydra } from './15-hydra.js';
import { signInKeycloak, signInKeycloakUnhashed } from './16-keycloak.js';
import { scale } from './17-scale.js';
import { signInWithShadow } from './19-shadow.js';
import { retained } from './20-retained.js';
import { following } from './21-followers.js';
import { withinMemory } from './22-memory-limit.js';
import { signInCompacted } from './23-compaction.js';

/** The table of contents of the benchmarks. */
export const rows: readonly Row[] = [
  get,
  patchMany,
  patchAlone,
  patchOnEtcd,
  signInLibrary,
  bareAsked,
  bareRemembered,
  signInBetterAuth,
  lessWork,
  assertion,
  policy,
  listPage,
  listWhole,
  watchStart,
  getGrowth,
  watching,
  start,
  memory,
  page,
  signInDex,
  signInDexUnhashed,
  signInHydra,
  signInKeycloak,
  signInKeycloakUnhashed,
  ...scale,
  signInWithShadow,
  retained,
  following,
  withinMemory,
  signInCompacted,
];
