import { useState } from 'preact/hooks';
import { ApiError } from './api.js';
import { useLanguage, type PageLanguage } from '../text/use-language.js';

/** What a page is about, or why it could not be read. */
export interface FirstRead<T> extends PageLanguage {
  readonly value: T | undefined;
  readonly failure: ApiError | undefined;
  readonly retry: () => void;
}

/**
 * Reads what a page is about after its language is loaded. Without a session (401) calls `leave`, if
 * that is given, instead of reporting the error.
 */
export function useFirstRead<T>(read: () => Promise<T>, leave?: () => void): FirstRead<T> {
  const [value, setValue] = useState<T>();
  const [failure, setFailure] = useState<ApiError>();
  const start = async (): Promise<void> => {
    try {
      setValue(await read());
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (thrown.code === 401 && leave) {
        leave();
      } else {
        setFailure(thrown);
      }
    }
  };
  const language = useLanguage(() => void start());
  const retry = (): void => {
    setFailure(undefined);
    void start();
  };
  return { ...language, value, failure, retry };
}
