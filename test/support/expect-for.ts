import { expect } from '@jest/globals';

type Matchers<T> = ReturnType<typeof expect<T>>;

/**
 * Like `expect(value)`, for a check that is made of several things in one test: what fails begins with
 * what the check was about.
 *
 * @example
 * ```ts
 * for (const path of paths) expectFor(path, (await get(path)).code).toBe(200);
 * ```
 */
export const expectFor = <T>(about: unknown, value: T): Matchers<T> =>
  labelled(expect(value), typeof about === 'string' ? about : JSON.stringify(about));

/** Returns matchers whose errors begin with a label; so do those of `not`, `resolves` and `rejects`. */
function labelled<M extends object>(matchers: M, label: string): M {
  const said = (error: unknown): never => {
    if (error instanceof Error) error.message = `${label}: ${error.message}`;
    throw error;
  };
  return new Proxy(matchers, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === 'object' && member !== null) return labelled(member, label);
      if (typeof member !== 'function') return member;
      return (...expected: unknown[]) => {
        try {
          const matched: unknown = member(...expected);
          return matched instanceof Promise ? matched.catch(said) : matched;
        } catch (error) {
          return said(error);
        }
      };
    },
  });
}
