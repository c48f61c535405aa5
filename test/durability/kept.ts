// The answers that clients got for the objects they wrote, compared with a store: each acknowledged version bit for
// bit, each write without an answer wholly or not at all.
import { createHash } from 'node:crypto'
import { s3Call, type S3Answer, type S3Request } from './s3-call.ts'

const READERS = 6
const BUSY_MAX_MS = 60_000

/** The digest of a body, or undefined where there is no object. */
type Content = string | undefined
type Entry = {
  /** The content by the last answer. */
  known: Content
  /** The contents that later requests without an answer would have made. */
  maybe: Content[]
  /** The versions that answers named, in a bucket with versions. */
  readonly versions: Map<string, Content[]>
}

/** The effect of a finished request on an object. */
export type Effect = {
  /** The path of the object, without a query. */
  readonly path: string
  /** The content that a GET then finds: the digest, or undefined for none. */
  readonly content: Content
  /** The version that is gone then. */
  readonly removes?: string
}

export const digestOf = (body: Buffer): string =>
  `${body.length} ${createHash('sha256').update(body).digest('hex').slice(0, 16)}`

const inWords = (content: Content) => content ?? 'absent'

export class Kept {
  /** Every receipt that a client got, with its time. */
  readonly receipts = new Map<string, number>()
  acknowledged = 0
  readonly #entries = new Map<string, Entry>()

  /** Sends a request that makes `content` of an object; says what came back. Not two at once for one path. */
  async write(
    target: { port: number; token: string },
    request: S3Request,
    { path, content, removes }: Effect,
  ): Promise<S3Answer | undefined> {
    const entry = this.#entry(path)
    const removed = removes === undefined ? undefined : entry.versions.get(removes)
    entry.maybe.push(content)
    removed?.push(undefined)
    const answer = await s3Call(target, request)
    this.heard(answer)
    if (answer === undefined || answer.status >= 500) return answer
    // A refusal, in words that say so, has changed nothing.
    entry.maybe.pop()
    removed?.pop()
    if (answer.status >= 300) return answer
    this.acknowledged++
    entry.known = content
    entry.maybe = []
    const version = answer.headers['x-amz-version-id']
    if (removes !== undefined) entry.versions.set(removes, [undefined])
    else if (typeof version === 'string' && content !== undefined)
      entry.versions.set(version, [content])
    return answer
  }

  /** The effect of a request that changes no object. */
  unchanged(path: string): Effect {
    return { path, content: this.#entry(path).known }
  }

  heard(answer: S3Answer | undefined): void {
    if (answer?.receipt !== undefined) this.receipts.set(answer.receipt, performance.now())
  }

  /**
   * Reads what is below a path; what is found is from now on what is known. Answers faults in words.
   */
  async check(target: { port: number; token: string }, below = '/'): Promise<string[]> {
    const faults: string[] = []
    const queue = [...this.#entries].filter(([path]) => path.startsWith(below))
    const reader = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop())
        faults.push(...(await this.#checkOne(target, ...next)))
    }
    await Promise.all(Array.from({ length: READERS }, reader))
    return faults
  }

  async #checkOne(
    target: { port: number; token: string },
    path: string,
    entry: Entry,
  ): Promise<string[]> {
    const faults: string[] = []
    const judge = (what: string, found: Content, allowed: readonly Content[]) => {
      if (!allowed.includes(found))
        faults.push(`${what} is ${inWords(found)}, not ${allowed.map(inWords).join(' or ')}`)
    }
    const found = await this.#read(target, path)
    judge(path, found, [entry.known, ...entry.maybe])
    entry.known = found
    entry.maybe = []
    for (const [version, allowed] of entry.versions) {
      const there = await this.#read(target, `${path}?versionId=${version}`)
      judge(`${path} version ${version}`, there, allowed)
      entry.versions.set(version, [there])
    }
    return faults
  }

  async #read(target: { port: number; token: string }, path: string): Promise<Content> {
    const deadline = performance.now() + BUSY_MAX_MS
    let answer: S3Answer | undefined
    // A service that is busy with its recovery says so, and is asked again.
    do {
      answer = await s3Call(target, { method: 'GET', path })
      this.heard(answer)
    } while (answer?.status === 503 && performance.now() < deadline)
    if (answer === undefined) return 'unreadable: the answer broke off'
    if (answer.status === 404) return undefined
    return answer.status === 200 ? digestOf(answer.body) : `unreadable: status ${answer.status}`
  }

  #entry(path: string): Entry {
    const found = this.#entries.get(path)
    if (found !== undefined) return found
    const entry: Entry = { known: undefined, maybe: [], versions: new Map() }
    this.#entries.set(path, entry)
    return entry
  }
}
