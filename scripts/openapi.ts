// The OpenAPI 3.1 document, made from contract/: routes, operations, descriptions, errors, headers.
import { z } from 'zod'
import type { Description } from '#contract/description.ts'
import { DESCRIPTIONS } from '#contract/descriptions.ts'
import { ERRORS, type Code } from '#contract/errors.ts'
import { LIMIT_HEADERS, REPLAY_HEADERS, RESPONSE_HEADERS } from '#contract/headers.ts'
import { operationOf, type OperationName } from '#contract/operations.ts'
import { ROUTES, type Route } from '#contract/routes.ts'
import { problem } from '#contract/service-replies.ts'
import { refusalsOf, type Facts } from './openapi-refusals.ts'

export type Contract = {
  readonly routes: readonly Route[]
  readonly descriptions: Readonly<Partial<Record<OperationName, Description>>>
  readonly version: string
}

/** The contract of this tree. */
export const contractOf = (version: string): Contract => ({
  routes: ROUTES,
  descriptions: DESCRIPTIONS,
  version,
})

/** The document as an object; throws RangeError for a route without a description. */
export function openapi(contract: Contract): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of contract.routes) {
    const path = (paths[templated(route.path)] ??= {})
    path[route.method.toLowerCase()] = operation(route, contract)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ergon',
      version: contract.version,
      description:
        'Every reply carries what its request cost in joules, and every figure has a receipt. A HEAD is answered like its GET.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://localhost:8080' }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: '`svc_…`' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'ergon_session',
          description:
            'At the portal: in place of a token for every operation. With https the name begins with `__Host-`.',
        },
      },
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: Object.fromEntries(
        Object.entries({ ...RESPONSE_HEADERS, ...LIMIT_HEADERS, ...REPLAY_HEADERS }).map(
          headerEntry,
        ),
      ),
      responses: { ...refusalResponses(contract), Problem: problemResponse() },
      schemas: { Problem: schemaOf(problem) },
    },
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Asked again with the same key and body within a day, the first answer of 2xx is given again and not billed again. Where there was none, the request goes on with what the first one began.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const templated = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{tile}')

function operation(route: Route, { descriptions }: Contract): object {
  const { operation: name } = route
  const { service, scope, tokenOptional, onPortal, stage, idempotent } = operationOf(name)
  const described = describedBy(name, descriptions)
  return {
    operationId: name,
    tags: [service],
    summary: described.summary,
    'x-stage': stage,
    ...(scope === null ? {} : { 'x-scope': scope, security: securityOf(tokenOptional, onPortal) }),
    parameters: [
      ...pathParameters(route.path),
      ...queryParameters(described.query),
      ...(idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    ...(described.request === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(described.request) } },
          },
        }),
    responses: {
      ...replies(described, idempotent),
      ...refusals(factsOf(name, described)),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

function securityOf(tokenOptional: true | undefined, onPortal: true | undefined): object[] {
  if (onPortal === true) return [{ session: [] }]
  return tokenOptional === true ? [{ token: [] }, {}] : [{ token: [] }]
}

const pathParameters = (path: string): object[] =>
  [...templated(path).matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

const queryParameters = (query: z.ZodObject | undefined): object[] =>
  Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(schema as z.ZodType),
  }))

function replies({ replies: known }: Description, idempotent: boolean): Record<string, object> {
  const entries = Object.entries(known).map(([status, { help, media }]) => [
    status,
    {
      description: help,
      headers: headersOn({ streams: 'text/event-stream' in media, idempotent }),
      content: Object.fromEntries(
        Object.entries(media).map(([type, schema]) => [
          type,
          schema === null ? {} : { schema: schemaOf(schema) },
        ]),
      ),
    },
  ])
  return Object.fromEntries(entries)
}

const PROBLEM = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
}

/** Refusals by status; many operations share one. */
const refusals = (facts: Facts): Record<string, object> =>
  Object.fromEntries(
    [...refusalsOf(facts)].map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${refusalName(status, codes)}` },
    ]),
  )

const refusalName = (status: number, codes: readonly Code[]) => `${status}_${codes.join('.')}`

/** Each says its codes, and what to do about them. */
const refusalResponses = ({ routes, descriptions }: Contract): Record<string, object> =>
  Object.fromEntries(
    routes
      .flatMap(({ operation: name }) => [
        ...refusalsOf(factsOf(name, describedBy(name, descriptions))),
      ])
      .toSorted(([a], [b]) => a - b)
      .map(([status, codes]) => [
        refusalName(status, codes),
        {
          description: codes.map((code) => `\`${code}\`: ${ERRORS[code].help}`).join('\n\n'),
          headers: headersOn({ streams: false, idempotent: false }),
          content: PROBLEM,
        },
      ]),
  )

const factsOf = (
  name: OperationName,
  { request, query, refusals: named = [] }: Description,
): Facts => ({
  ...operationOf(name),
  refusals: named,
  hasBody: request !== undefined,
  hasQuery: query !== undefined,
})

function describedBy(name: OperationName, descriptions: Contract['descriptions']): Description {
  const described = (descriptions as Partial<Record<OperationName, Description>>)[name]
  if (described === undefined) throw new RangeError(`No description of the operation: ${name}`)
  return described
}

/** Headers of a reply that is always settled, may be streamed, may be an earlier one. */
function headersOn(reply: { streams: boolean; idempotent: boolean }): object {
  const names = [
    ...Object.entries(RESPONSE_HEADERS)
      .filter(([, { on }]) => on !== 'streamed' || reply.streams)
      .map(([name]) => name),
    ...Object.keys(LIMIT_HEADERS),
    ...(reply.idempotent ? Object.keys(REPLAY_HEADERS) : []),
  ]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

type HeaderRow = { readonly on?: string; readonly help: string; readonly example: string }
const headerEntry = ([name, { on, help, example }]: [string, HeaderRow]) => [
  name,
  { description: help, required: on === 'every', schema: { type: 'string' }, example },
]

const problemResponse = (): object => ({
  description: `Any other refusal, as of a request whose form or path is wrong. All codes: ${Object.keys(ERRORS).join(', ')}; see errors.md.`,
  headers: headersOn({ streams: false, idempotent: false }),
  content: PROBLEM,
})

/** JSON Schema 2020-12 of what may be sent: additions are allowed, so no additionalProperties. */
function schemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      // The bounds of a double say nothing about a field.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
  return rest
}
