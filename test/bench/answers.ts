import { request } from 'node:http';

/** Whether a server on this machine answers a path with 200. */
export const answers = (port: number, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path, headers: { Host: `localhost:${port}` } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    })
      .on('error', () => resolve(false))
      .end();
  });
