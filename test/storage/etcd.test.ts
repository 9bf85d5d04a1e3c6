import { etcdConformance } from './etcd-conformance.js';

etcdConformance();
