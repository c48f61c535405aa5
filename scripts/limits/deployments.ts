// Limits: deployments.
import * as deployments from '#contract/deployments/deployment-limits.ts'
import { code, count, seconds, words, type LimitSection } from './limit.ts'

export const DEPLOYMENTS: LimitSection = {
  title: 'Deployments',
  limits: [
    [
      'description',
      `${count(deployments.DESCRIPTION_CHARACTERS_MAX)} characters`,
      code('invalid_request'),
    ],
    ['variables', count(deployments.DEPLOYMENT_VARIABLES_MAX), code('invalid_request')],
    ['files of functions', count(deployments.DEPLOYMENT_FILES_MAX), code('invalid_request')],
    ['deployments of a stack at once', '1', code('deployment_running')],
    [
      'deployments of an account at once',
      count(deployments.DEPLOYMENTS_RUNNING_MAX),
      code('too_many_deployments'),
    ],
    [
      'time until a change is there',
      seconds(deployments.DEPLOYMENT_STEP_MS_MAX),
      words('the step fails'),
    ],
    [
      'ended deployments of an account',
      `the newest ${count(deployments.DEPLOYMENTS_KEPT)}`,
      words('older ones go'),
    ],
  ],
}
