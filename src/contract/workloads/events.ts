// The events of workloads.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'

const workload = {
  workload_id: z.string().regex(/^wl_/).meta({ example: 'wl_sample' }),
  workload_name: z.string(),
}

export const WORKLOADS_EVENTS = {
  'workload.deployed': eventOf('A workload finished its first deploy and serves traffic.', {
    ...workload,
    url: z.string(),
  }),
  'workload.suspended': eventOf('A workload was paused, by hand or by its budget.', {
    ...workload,
    reason: z.enum(['manual', 'energy_budget', 'balance', 'account']),
  }),
  'workload.crashed': eventOf('A workload entered a crash loop.', {
    ...workload,
    exit_code: z.int(),
    last_log_url: z.string().meta({ example: '/v1/workloads/wl_sample/logs?lines=100' }),
  }),
  'workload.scaled': eventOf('The limits of a workload changed, or its number of instances.', {
    ...workload,
    min: z.int().min(0),
    max: z.int().min(0),
    instances: z.int().min(0),
  }),
} satisfies EventTable
