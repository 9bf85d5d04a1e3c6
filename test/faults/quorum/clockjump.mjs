import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Loaded into a process before all else: its wall clock is as many milliseconds ahead as the file
 * TEST_CLOCK_FILE says, read again ten times a second, and said beside it once it is so. Timers and
 * performance.now() go on as they were.
 */
const file = process.env.TEST_CLOCK_FILE;
const RealDate = Date;
let offset = 0;

class JumpingDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) {
      super(JumpingDate.now());
    } else {
      super(...given);
    }
  }
  static now() {
    return RealDate.now() + offset;
  }
}

const look = () => {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0;
    writeFileSync(`${file}.seen`, String(offset));
  } catch {
    /* nothing was said yet */
  }
};
look();
setInterval(look, 100).unref();
globalThis.Date = JumpingDate;
