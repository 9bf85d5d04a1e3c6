import { AsyncLocalStorage } from 'node:async_hooks';
import { RequestState } from './request-state.js';
import type { UnitOfWork } from './unit-of-work.js';

const current = new AsyncLocalStorage<UnitOfWork>();

/** Returns the unit of work of the current request. */
export const currentUnitOfWork = (): UnitOfWork | undefined => current.getStore();

/** Returns the same in code that only runs in a request; throws outside one. */
export function requestUnitOfWork(): UnitOfWork {
  const unitOfWork = current.getStore();
  if (!unitOfWork) throw new Error('no request is being answered');
  return unitOfWork;
}

/** Returns the state of the current request; outside of a request a new one. */
export const requestState = (): RequestState => current.getStore()?.state ?? new RequestState();

/** Runs `work` in a unit of work, which the caller commits. */
export const inUnitOfWork = <T>(unitOfWork: UnitOfWork, work: () => Promise<T>): Promise<T> =>
  current.run(unitOfWork, work);

/** Runs `work` outside the request's unit of work. */
export const outsideUnitOfWork = <T>(work: () => T): T => current.exit(work);
