// An upload with its progress, which fetch does not tell.
import { pathOf, storageProblem, type Place } from './s3.ts'
import { unreachable } from './problem.ts'

const CREATED_MAX = 299

/** Puts a file. Without `replaces` an object of this name stays, and PreconditionFailed is thrown. */
export function upload(
  place: Place,
  file: File,
  options: {
    readonly replaces: boolean
    readonly signal: AbortSignal
    readonly onProgress: (sent: number) => void
  },
): Promise<void> {
  const { replaces, signal, onProgress } = options
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', pathOf(place))
    request.setRequestHeader('content-type', file.type === '' ? UNKNOWN : file.type)
    if (!replaces) request.setRequestHeader('if-none-match', '*')
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    request.addEventListener('load', () => {
      if (request.status <= CREATED_MAX) resolve()
      else reject(storageProblem(request.status, request.responseText))
    })
    request.addEventListener('error', () => reject(unreachable()))
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(file)
  })
}

const UNKNOWN = 'application/octet-stream'
