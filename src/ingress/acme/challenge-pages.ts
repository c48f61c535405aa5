// The pages by which the authority sees that a name leads here (HTTP-01: RFC 8555, 8.3).
import { hostOfRequest, type IngressRequest, type IngressResponse } from '#ingress/exchange.ts'

const FOLDER = '/.well-known/acme-challenge/'

export interface ChallengePages {
  /** Answers with `text` at the page of the token, for this name alone, until it is disposed. */
  show(host: string, token: string, text: string): Disposable
  /** False where the request is for no such page. */
  answered(request: IngressRequest, response: IngressResponse): boolean
}

export function createChallengePages(): ChallengePages {
  const pages = new Map<string, string>()
  const keyOf = (host: string, path: string) => `${host}${path}`
  return {
    show(host, token, text) {
      const key = keyOf(host, FOLDER + token)
      pages.set(key, text)
      return { [Symbol.dispose]: () => void pages.delete(key) }
    },
    answered(request, response) {
      const { url = '/' } = request
      if (!url.startsWith(FOLDER)) return false
      const host = hostOfRequest(request).toLowerCase().replace(/:\d+$/, '')
      const text = pages.get(keyOf(host, url))
      if (text === undefined) return false
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': Buffer.byteLength(text),
      })
      response.end(text)
      return true
    },
  }
}
