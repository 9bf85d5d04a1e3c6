import { timeOrderedId } from '../../registry/schema/time-ordered-id.js';
import type { CidrList } from '../../security/cidr-list.js';
import { clientNetwork } from '../http/client-network.js';
import type { Step } from './step.js';

const auditIDPattern = /^[A-Za-z0-9-]{1,64}$/;

/**
 * Sets the Audit-ID, the one sent if it is well-formed, and the client network. Closes the
 * connection after the response if the server is stopping or the request asks for an upgrade.
 */
export const assignAuditID =
  (trustedProxies: CidrList | undefined, isStopping: () => boolean): Step =>
  (req, res) => {
    const given = req.headers['audit-id'];
    req.auditID = typeof given === 'string' && auditIDPattern.test(given) ? given : timeOrderedId();
    req.network = clientNetwork(req, trustedProxies);
    req.fieldCount = req.rawHeaders.length / 2;
    if (isStopping() || req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
  };
