// A PUT with its progress, which fetch does not tell.
import { unreachable } from './problem.ts'
import { storageProblem } from './s3.ts'
import { tellSignedOut } from './signed-out.ts'

const CREATED_MAX = 299
/** A connection that takes no byte for so long is given up. */
const STALLED_MS = 60_000

export type UploadOptions = {
  /** False: an object of this name stays, and PreconditionFailed is thrown. */
  readonly replaces: boolean
  readonly signal: AbortSignal
  readonly onProgress: (sent: number) => void
}

/** Sends the bytes, and gives the ETag of the answer. Throws Problem, and AbortError once the signal says so. */
export function sendBody(
  path: string,
  body: Blob,
  options: Pick<UploadOptions, 'signal' | 'onProgress'> & {
    readonly headers: Readonly<Record<string, string>>
  },
): Promise<string> {
  const { headers, signal, onProgress } = options
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    let stall: ReturnType<typeof setTimeout>
    const moves = () => {
      clearTimeout(stall)
      stall = setTimeout(() => {
        reject(unreachable())
        request.abort()
      }, STALLED_MS)
    }
    const stop = () => {
      reject(new DOMException('Cancelled', 'AbortError'))
      request.abort()
    }
    request.open('PUT', path)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded }) => {
      moves()
      onProgress(loaded)
    })
    request.addEventListener('load', () => {
      if (request.status <= CREATED_MAX) resolve(request.getResponseHeader('etag') ?? '')
      else {
        if (request.status === 401) tellSignedOut()
        reject(storageProblem(request.status, request.responseText))
      }
    })
    request.addEventListener('error', () => reject(unreachable()))
    request.addEventListener('loadend', () => {
      clearTimeout(stall)
      signal.removeEventListener('abort', stop)
    })
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop)
    moves()
    request.send(body)
  })
}

/** The media type of a file, as storage keeps it. */
export const typeOf = ({ type }: File): string => (type === '' ? 'application/octet-stream' : type)
