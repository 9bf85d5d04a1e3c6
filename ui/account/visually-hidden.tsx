import type { ComponentChildren } from 'preact';

/** Text for screen readers that names the row of a control. */
export const VisuallyHidden = ({ children }: { children: ComponentChildren }) => (
  <bdi class="quiet">{children}</bdi>
);
