import { useEffect, useRef, useState } from 'preact/hooks';
import { isCode, tidyCode } from './code.js';

/**
 * A code as it is typed. A complete one is used at once and only once. Another `key` is another code,
 * which clears it.
 */
export function useTypedCode(key: string, length: number, onCode: (code: string) => void) {
  const [code, setCode] = useState('');
  const [isMalformed, setMalformed] = useState(false);
  const sent = useRef('');
  useEffect(() => {
    setCode('');
    setMalformed(false);
  }, [key]);
  const send = (value: string): void => {
    setMalformed(!isCode(value, length));
    if (!isCode(value, length)) return;
    sent.current = key + value;
    onCode(value);
  };
  const take = (typed: string): void => {
    const tidy = tidyCode(typed, length);
    setCode(tidy);
    setMalformed(false);
    if (isCode(tidy, length) && sent.current !== key + tidy) send(tidy);
  };
  return { code, isMalformed, send, take };
}
