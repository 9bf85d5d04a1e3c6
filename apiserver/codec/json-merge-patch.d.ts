declare module 'json-merge-patch' {
  const library: {
    apply(target: unknown, patch: unknown): unknown;
    generate(before: unknown, after: unknown): unknown;
  };
  export default library;
}
