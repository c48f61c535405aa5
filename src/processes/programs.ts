// The programs that run as cells: their code is compiled before the first of them starts.
import { GATEWAY_PROGRAM } from './gateways.ts'
import { AGENT_PRODUCTS } from './products/agent.ts'
import { TASKS_PROGRAM } from './tasks-cell.ts'

export const PROGRAMS = [
  GATEWAY_PROGRAM,
  TASKS_PROGRAM,
  ...AGENT_PRODUCTS.flatMap(({ programs = [] }) => programs),
]
