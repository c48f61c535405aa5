// Headers of answers on sites: the site alone decides about caching, and no other origin may read.
import type { ReplyHeaders } from '#http/reply.ts'

/** The headers that objects and the CORS rules of buckets set. */
const OF_STORAGE = /^(?:cache-control|expires|access-control-.+)$/i

/** Without what is for browsers at storage's own address. */
export const onSite = (headers: ReplyHeaders): ReplyHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_STORAGE.test(name)))
