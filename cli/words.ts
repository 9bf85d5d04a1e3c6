/** The words of the command that talk to a service: how each is written, and what it is for. */
export const words: Readonly<Record<string, readonly [usage: string, about: string]>> = {
  login: ['login URL', 'signs in by a code that is confirmed in a browser'],
  logout: ['logout', 'ends that sign-in'],
  whoami: ['whoami', 'prints who is signed in'],
  create: ['create -f FILE [--dry-run=server]', 'creates what a file of YAML or Cedar holds, or tries it'],
};
