// The schemas of the toy.
import { z } from 'zod'
import { parseWith } from './values/parse.ts'

export const countRequest = z.strictObject({ by: z.int().min(1).max(1000) })
export const countReply = z.strictObject({ greeting: z.string(), count: z.int() })

/** Throws invalid_request. */
export const parseCountRequest = (json: unknown) => parseWith(countRequest, json)
