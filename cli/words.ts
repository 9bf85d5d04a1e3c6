/** The words of the command that talk to a service: how each is written, and what it is for. */
export const words: Readonly<Record<string, readonly [usage: string, about: string]>> = {
  login: ['login URL [--certificate-authority FILE]', 'signs in by a code that is confirmed in a browser'],
  logout: ['logout', 'ends that sign-in'],
  kubeconfig: ['kubeconfig [--server URL] [-f FILE]', 'writes what kubectl needs to be signed in as you'],
  credential: ['credential', 'prints a token for kubectl, which asks for it by itself'],
  whoami: ['whoami', 'prints who is signed in'],
  create: ['create -f FILE [--dry-run=server]', 'creates what a file of YAML or Cedar holds, or tries it'],
};
