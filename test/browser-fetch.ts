// A fetch with the rules of a browser for a page of another origin (Fetch standard, CORS protocol, requests
// without credentials): asks first where it must, and shows the page only what it may see.

export const ORIGIN = 'https://page.example'

/** Throws TypeError, as a browser's does, where the page may not ask or may not read. */
export const browserFetch: typeof fetch = async (input, init = {}) => {
  const request = new Request(input, init)
  const unsafe = [...request.headers.keys()].filter((name) => !isSafe(name, request.headers))
  if (unsafe.length > 0 || !SAFE_METHODS.has(request.method)) await ask(request, unsafe)
  const headers = new Headers(request.headers)
  headers.set('origin', ORIGIN)
  const { method, signal } = request
  const body = init.body ?? null
  const answer = await fetch(request.url, { method, headers, body, signal, redirect: 'error' })
  checkOrigin(answer)
  const exposed = new Set([...SAFE_REPLY_HEADERS, ...listOf(answer, 'expose-headers')])
  const seen = [...answer.headers].filter(([name]) => exposed.has(name) || exposed.has('*'))
  const isEmpty = answer.status === 204 || answer.status === 304
  return new Response(isEmpty ? null : answer.body, { status: answer.status, headers: seen })
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'POST'])
const SAFE_HEADERS = new Set(['accept', 'accept-language', 'content-language'])
const SAFE_TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/
const SAFE_REPLY_HEADERS = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]

const isSafe = (name: string, headers: Headers): boolean =>
  name === 'content-type' ? SAFE_TYPES.test(headers.get(name) ?? '') : SAFE_HEADERS.has(name)

async function ask(request: Request, unsafe: readonly string[]): Promise<void> {
  const answer = await fetch(request.url, {
    method: 'OPTIONS',
    headers: {
      origin: ORIGIN,
      'access-control-request-method': request.method,
      ...(unsafe.length === 0
        ? {}
        : { 'access-control-request-headers': unsafe.toSorted().join(',') }),
    },
  })
  await answer.arrayBuffer()
  if (!answer.ok) throw new TypeError(`the preflight is ${answer.status}`)
  checkOrigin(answer)
  const methods = listOf(answer, 'allow-methods')
  if (!SAFE_METHODS.has(request.method) && !methods.includes(request.method.toLowerCase()))
    throw new TypeError(`${request.method} is not allowed`)
  const allowed = new Set(listOf(answer, 'allow-headers'))
  const refused = unsafe.find(
    (name) => !allowed.has(name) && (name === 'authorization' || !allowed.has('*')),
  )
  if (refused !== undefined) throw new TypeError(`the header ${refused} is not allowed`)
}

function checkOrigin(answer: Response): void {
  const allowed = answer.headers.get('access-control-allow-origin')
  if (allowed !== '*' && allowed !== ORIGIN)
    throw new TypeError(`${ORIGIN} may not read the answer`)
}

const listOf = (answer: Response, name: string): string[] =>
  (answer.headers.get(`access-control-${name}`) ?? '').toLowerCase().split(/, */)
