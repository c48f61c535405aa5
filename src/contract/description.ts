// Description of a routed operation: its request and replies. The OpenAPI page adds routes, errors and headers.
import type { z } from 'zod'
import type { Code } from './errors.ts'
import type { ProductContract } from './product.ts'

/** A reply's schema by media type; null: not JSON. */
type Media = Readonly<Record<string, z.ZodType | null>>
export type Description = {
  readonly summary: string
  readonly query?: z.ZodObject
  readonly request?: z.ZodType
  /** Replies by status; the body of a refusal is the same everywhere. */
  readonly replies: Readonly<Record<number, { readonly help: string; readonly media: Media }>>
  /** Codes beyond those that follow from scope, body and idempotency (scripts/openapi-refusals.ts). */
  readonly refusals?: readonly Code[]
}
export const json = (schema: z.ZodType): Media => ({ 'application/json': schema })
export const ok = (help: string, media: Media): Description['replies'] => ({ 200: { help, media } })
export const PLAIN_TEXT = { 'text/plain': null }

/** A description of each routed operation of a product. */
export type Descriptions<Product extends ProductContract> = Readonly<
  Record<Product['routes'][number]['operation'], Description>
>
