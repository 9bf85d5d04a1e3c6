const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

/** Elements by which a page of the suite shows that it has processed the response. */
const taken = '#submission_complete, p#complete:not(.collapse)';

/**
 * Steps through the pages of the service as a person does, from the address that a module asks for
 * until its own address is reached or a page has nothing to press. `codeTo` returns the newest
 * emailed code. `declines` makes the person cancel.
 */
export class Visitor {
  #page;
  #person;
  #suite;
  #codeTo;
  #declines;
  #first;

  constructor(page, { person, suite, codeTo, declines = false }) {
    this.#page = page;
    this.#person = person;
    this.#suite = suite;
    this.#codeTo = codeTo;
    this.#declines = declines;
  }

  /** Opens an address and goes through the pages that follow; `post` sends its query as a form. */
  async visit(url, post = false) {
    await this.open(url, post);
    const until = Date.now() + 90_000;
    while (Date.now() < until) {
      if (this.isBack()) return this.#arrived();
      if (!(await this.#stepOrWait())) return;
      await pause(200);
    }
    throw new Error(`${url} did not lead back to the suite: the browser is at ${this.#page.url()}`);
  }

  /** Opens an address without pressing anything. */
  async open(url, post = false) {
    if (post) {
      await this.#submit(url);
    } else {
      await this.#page.goto(url, { waitUntil: 'load' }).catch(() => undefined);
    }
    await this.#settled();
    this.#first = await this.#shot();
  }

  /** Whether the browser is at an address of the suite. */
  isBack() {
    return this.#page.url().startsWith(this.#suite);
  }

  /**
   * Returns a screenshot of the page that the last visit ended on, or of its first page if it led
   * back to the suite.
   */
  picture() {
    return this.isBack() ? this.#first : this.#shot();
  }

  #shot() {
    return this.#page.screenshot();
  }

  async #submit(url) {
    const { origin, pathname, searchParams } = new URL(url);
    const escaped = (text) => text.replace(/[&"<>]/g, (one) => `&#${one.charCodeAt(0)};`);
    const fields = [...searchParams].map(
      ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
    );
    await this.#page.goto(this.#suite);
    await this.#page.setContent(
      `<form method="post" action="${origin}${pathname}">${fields.join('')}</form>`,
    );
    await this.#page.evaluate(() => document.forms[0].submit());
    const left = (now) => now.origin !== this.#suite || now.pathname.startsWith('/test/');
    await this.#page.waitForURL(left, { waitUntil: 'load' }).catch(() => undefined);
  }

  /** Waits until the suite's page has processed the response. */
  async #arrived() {
    await this.#page
      .locator(taken)
      .first()
      .waitFor({ state: 'attached', timeout: 15_000 })
      .catch(() => undefined);
  }

  /** Waits until a page of the service is ready for input, or the suite is reached. */
  async #settled() {
    const ready = this.#page.locator('main[data-phase]').or(this.#page.locator('h1'));
    await ready
      .first()
      .waitFor({ timeout: 20_000 })
      .catch(() => undefined);
  }

  /**
   * Takes one step; tries again for two seconds while the page changes from one view to the next.
   */
  async #stepOrWait() {
    for (let tries = 0; tries < 8; tries += 1) {
      const { done, isEnd } = await this.#step();
      if (done) return true;
      if (isEnd) return false;
      await pause(250);
    }
    return false;
  }

  /**
   * Does what the view asks for. Returns `done` if it did something, `isEnd` if the page ends the
   * visit.
   */
  async #step() {
    const page = this.#page;
    await this.#settled();
    if (this.isBack()) return { done: true };
    const phase = await page
      .locator('main[data-phase]')
      .getAttribute('data-phase', { timeout: 500 })
      .catch(() => null);
    if (phase === 'error') return { isEnd: true };
    if (phase === 'provider') {
      return { done: await this.#leave(page.getByRole('button', { name: 'Sign out' })) };
    }
    if (phase === null) return { done: false };
    if (this.#declines) {
      return { done: await this.#leave(page.getByRole('button', { name: /^Cancel/ })) };
    }
    return { done: await this.#signIn(page, phase) };
  }

  async #signIn(page, phase) {
    const code = page.getByRole('textbox', { name: 'Code' });
    if (await code.isVisible().catch(() => false)) {
      await code.fill(await this.#codeTo(this.#person)).catch(() => undefined);
      await pause(500);
      return true;
    }
    const email = page.getByRole('textbox', { name: 'Email' });
    if (await email.isVisible().catch(() => false)) {
      if (await email.isEditable().catch(() => false)) {
        await email.fill(this.#person).catch(() => undefined);
      }
      return this.#press(page.getByRole('button', { name: 'Continue with email' }));
    }
    for (const name of ['Email me a code', 'Not now']) {
      if (await this.#press(page.getByRole('button', { name }))) return true;
    }
    if (phase !== 'ConsentRequired') {
      return ['LoginRequired', 'Authenticated', 'Completed'].includes(phase);
    }
    await pause(600);
    const boxes = page.getByRole('checkbox', { disabled: false });
    for (const box of await boxes.all()) await box.check({ timeout: 5_000 }).catch(() => undefined);
    return this.#press(page.getByRole('button', { name: 'Allow' }));
  }

  /** Presses a button that leads to another address, and waits for that. */
  async #leave(button) {
    const from = this.#page.url();
    if (!(await this.#press(button))) return false;
    await this.#page
      .waitForURL((now) => now.href !== from, { timeout: 20_000 })
      .catch(() => undefined);
    return true;
  }

  async #press(button) {
    if (
      !(await button
        .first()
        .isVisible()
        .catch(() => false))
    ) {
      return false;
    }
    await button
      .first()
      .click({ timeout: 5_000 })
      .catch(() => undefined);
    return true;
  }
}
