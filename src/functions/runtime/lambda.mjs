// Handlers of AWS Lambda: HTTP requests as events of payload format 2.0, and their results as answers
// (docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
import { Buffer } from 'node:buffer'

const TEXT = /^(text\/|application\/(.*\+)?(json|xml|javascript|x-www-form-urlencoded)\b)/i
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A Lambda handler as one of requests. A new object, or a time, is the event itself, and has no answer. */
export const asLambda = (handler, of) => async (request, context, svcEvent) => {
  const event =
    svcEvent === undefined ? await eventOf(request, context, Date.now()) : await request.json()
  const made = await handler(event, contextOf(context, of))
  return svcEvent === undefined ? answerOf(made) : new Response(null, { status: 204 })
}

/** The event of a request; of headers and parameters that come twice the values are joined by commas. */
export async function eventOf(request, { requestId }, nowMs) {
  const url = new URL(request.url)
  const { cookie, ...headers } = Object.fromEntries(request.headers)
  const parameters = [...new Set(url.searchParams.keys())].map((name) => [
    name,
    url.searchParams.getAll(name).join(','),
  ])
  const { body, isBase64Encoded } = await bodyOf(request)
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    ...(cookie !== undefined && { cookies: cookie.split(/; */) }),
    headers,
    ...(parameters.length > 0 && { queryStringParameters: Object.fromEntries(parameters) }),
    requestContext: {
      accountId: 'anonymous',
      apiId: url.hostname.split('.', 1)[0],
      domainName: url.hostname,
      domainPrefix: url.hostname.split('.', 1)[0],
      http: {
        method: request.method,
        path: url.pathname,
        protocol: 'HTTP/1.1',
        sourceIp: headers['x-forwarded-for']?.split(',').at(-1)?.trim() ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: '$default',
      stage: '$default',
      time: timeOf(new Date(nowMs)),
      timeEpoch: nowMs,
    },
    ...(body !== undefined && { body }),
    isBase64Encoded,
  }
}

/** Text as it is, other bytes as base64; no body where there are no bytes. */
async function bodyOf(request) {
  const bytes = Buffer.from(await request.arrayBuffer())
  if (bytes.length === 0) return { isBase64Encoded: false }
  const isText =
    TEXT.test(request.headers.get('content-type') ?? 'text/plain') &&
    !request.headers.has('content-encoding')
  return { body: bytes.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText }
}

/** As CLF: 12/Mar/2020:19:03:58 +0000. */
function timeOf(date) {
  const day = String(date.getUTCDate()).padStart(2, '0')
  const clock = date.toISOString().slice(11, 19)
  return `${day}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}:${clock} +0000`
}

/** `of`: the config of the function. */
function contextOf(context, { name, version, memoryBytes, timeoutMs }) {
  const lastMs = performance.now() + timeoutMs
  return {
    ...context,
    functionName: name,
    functionVersion: String(version),
    memoryLimitInMB: String(Math.floor(memoryBytes / 1e6)),
    awsRequestId: context.requestId,
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, Math.round(lastMs - performance.now())),
  }
}

/** A result without `statusCode` is the body of a 200: a string as it is, anything else as JSON. */
export function answerOf(made) {
  if (made === null || typeof made !== 'object' || made.statusCode === undefined) {
    const body = typeof made === 'string' ? made : JSON.stringify(made ?? null)
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }
  const { statusCode, headers = {}, cookies = [], body, isBase64Encoded } = made
  const shown = new Headers({ 'content-type': 'application/json' })
  for (const [name, value] of Object.entries(headers)) shown.set(name, String(value))
  for (const cookie of cookies) shown.append('set-cookie', cookie)
  const text = typeof body === 'string' || body == null ? body : JSON.stringify(body)
  const bytes = isBase64Encoded === true ? Buffer.from(text ?? '', 'base64') : text
  return new Response(BODILESS.has(statusCode) ? null : (bytes ?? ''), {
    status: statusCode,
    headers: shown,
  })
}

const BODILESS = new Set([204, 205, 304])
