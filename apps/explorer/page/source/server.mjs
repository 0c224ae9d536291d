// The engine behind a page of `serve`. All that differs from a page in a file is here and in the
// card of stacks.
const noAnswer = 'the server does not answer';

/** Which run of the server the address asks for; 0 is the first. */
export function runAsked() {
  const asked = Number(new URLSearchParams(location.hash.slice(1)).get('run') ?? 0);
  return Number.isSafeInteger(asked) && asked >= 0 ? asked : 0;
}

export class Server {
  /** The server that the page came from; token and run stand in the fragment of its address. */
  constructor(token, number = 0) {
    this.token = token;
    this.number = number;
    this.client = [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16)).join('-');
    this.id = 0;
    this.isBusy = false;
    this.next = null;
  }

  /** The response; an error has `status`, 0 where no answer came. */
  async call(what, body) {
    let response;
    try {
      response = await fetch(`/api/${this.number}/${what}`, { method: 'POST', body: JSON.stringify(body), credentials: 'omit',
        headers: { 'content-type': 'application/json', 'x-foretrace-token': this.token } });
    } catch {
      throw Object.assign(new Error(noAnswer), { status: 0 });
    }
    if (response.ok) return response;
    const { error } = await response.json().catch(() => ({ error: response.statusText }));
    throw Object.assign(new Error(error), { status: response.status });
  }

  /** Sends a recording; the number of the run that it becomes. */
  async add(file) {
    let response;
    try {
      response = await fetch('/api/add', { method: 'POST', body: file, credentials: 'omit',
        headers: { 'content-type': 'application/octet-stream', 'x-foretrace-token': this.token, 'x-foretrace-name': file.name.replace(/[^\w.-]/g, '_') } });
    } catch {
      throw new Error(noAnswer);
    }
    const answer = await response.json().catch(() => ({ error: response.statusText }));
    if (!response.ok) throw new Error(answer.error);
    return answer.run;
  }

  async open() { return (await this.call('open', {})).json(); }

  /**
   * What a stack makes of the run: {id, variant, strings, is_shown, bytes}. One question is on its way
   * at a time; of those that come meanwhile only the newest is asked. Null: a newer one came.
   */
  async point(stack) {
    this.id += 1;
    if (this.isBusy) {
      this.next?.(false);
      const goes = await new Promise((done) => { this.next = done; });
      if (!goes) return null;
    }
    this.isBusy = true;
    try {
      const response = await this.call('point', { client: this.client, id: this.id, stack });
      return framed(await response.arrayBuffer());
    } catch (error) {
      if (error.status === 409) return null;
      throw error;
    } finally {
      this.isBusy = false;
      const { next } = this;
      this.next = null;
      next?.(true);
    }
  }

  /** Range and reasons of the stack that point() answered under this id; null: a newer one came. */
  async rest(stack, id) {
    try {
      return await (await this.call('rest', { client: this.client, id, stack })).json();
    } catch (error) {
      if (error.status === 409) return null;
      throw error;
    }
  }
}

/** The length of a JSON head, the head, then columns. */
function framed(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { ...head, bytes: new Uint8Array(buffer, 4 + length) };
}
