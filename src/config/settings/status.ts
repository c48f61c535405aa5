// The settings of the status page.
import { z } from 'zod'
import { count } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

export const STATUS_SETTINGS = {
  statusUrl: {
    name: 'ERGON_STATUS_URL',
    flag: 'status-url',
    help: 'Public address of the status page, when a proxy is in front (default: the fourth port after that of the API)',
    check: z.url({ protocol: /^https?$/ }).optional(),
  },
  statusSeconds: {
    name: 'ERGON_STATUS_SECONDS',
    flag: 'status-seconds',
    help: 'Seconds from one writing of the status page to the next (default 60)',
    check: count(1, 60).default(60),
  },
  probeSeconds: {
    name: 'ERGON_PROBE_SECONDS',
    flag: 'probe-seconds',
    help: "Seconds from one probe of each component to the next, which the operator's account pays; 0: none (default 600)",
    check: count(0, 86_400).default(600),
  },
} satisfies Settings
