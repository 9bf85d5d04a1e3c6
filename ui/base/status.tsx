import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { announce } from './live-region.js';

interface Props {
  look?: string | undefined;
  children: ComponentChildren;
}

/**
 * A paragraph that is announced when it appears and whenever its text changes. The page's region
 * announces it: a region that came together with its text would be silent (WCAG 4.1.3).
 */
export function Status({ look, children }: Props) {
  const paragraph = useRef<HTMLParagraphElement>(null);
  const announced = useRef('');
  useEffect(() => {
    const words = paragraph.current!.textContent!;
    if (words && words !== announced.current) announce(words);
    announced.current = words;
  });
  return (
    <p class={look} ref={paragraph}>
      {children}
    </p>
  );
}
