import { etcdConformance } from './cases/etcd-conformance.js';

etcdConformance();
