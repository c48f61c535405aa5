// The host names of workloads and functions in requests.
import { z } from 'zod'
import { parseWith } from '#contract/values/parse.ts'
import { HOST_NAME, HOSTS_MAX } from './host-limits.ts'

/** Host names at which it answers too: all of them. */
export const hostRoutes = z
  .array(
    z
      .string()
      .regex(HOST_NAME, 'must be a host name in lower case with a dot, such as api.example.com'),
  )
  .max(HOSTS_MAX)

const request = z.object({ routes: hostRoutes })

/** Throws invalid_request. */
export const parseHostRoutes = (json: unknown): z.infer<typeof request> => parseWith(request, json)
