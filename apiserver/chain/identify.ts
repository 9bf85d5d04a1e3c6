import { randomUUID } from 'node:crypto';
import type { CidrList } from '../../security/cidr-list.js';
import { clientNetwork } from '../http/client-network.js';
import type { Step } from './step.js';

const auditIDPattern = /^[A-Za-z0-9-]{1,64}$/;

/**
 * Gives a request its Audit-ID, the one sent if it is well-formed, and its client network. The
 * connection of a request that arrives while the server stops, or asks for an upgrade, is closed
 * after the answer.
 */
export const identify =
  (trustedProxies: CidrList | undefined, isStopping: () => boolean): Step =>
  (req, res) => {
    const given = req.headers['audit-id'];
    req.auditID = typeof given === 'string' && auditIDPattern.test(given) ? given : randomUUID();
    req.network = clientNetwork(req, trustedProxies);
    req.fieldCount = req.rawHeaders.length / 2;
    if (isStopping() || req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
  };
