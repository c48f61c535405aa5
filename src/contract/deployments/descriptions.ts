// Requests and replies of the routed operations of deployments.
import * as deployments from './deployments.ts'
import { json, ok, type Descriptions } from '#contract/description.ts'
import type { DEPLOYMENTS } from './operations.ts'

export const DEPLOYMENTS_DESCRIPTIONS: Descriptions<typeof DEPLOYMENTS> = {
  'deployment.create': {
    summary:
      'Compare a description file with what is there, and apply the differences. Steps are stored: an application goes on after any kill',
    request: deployments.deploymentRequest,
    replies: {
      200: { help: 'The plan of a dry run', media: json(deployments.deploymentPlan) },
      201: { help: 'The deployment, on its way', media: json(deployments.deploymentReply) },
    },
    refusals: [
      'description_invalid',
      'resource_in_other_stack',
      'deployment_running',
      'too_many_deployments',
      'plan_changed',
    ],
  },
  'deployment.list': {
    summary: 'The deployments of the account, the newest first',
    query: deployments.deploymentListQuery,
    replies: ok('The deployments', json(deployments.deploymentList)),
  },
  'deployment.get': {
    summary: 'A deployment with its steps',
    replies: ok('The deployment', json(deployments.deploymentReply)),
    refusals: ['deployment_not_found'],
  },
  'deployment.cancel': {
    summary:
      'Cancel a running deployment: what is done stays, and no further step begins. A change that is made already goes on',
    replies: ok('The cancelled deployment', json(deployments.deploymentReply)),
    refusals: ['deployment_not_found', 'deployment_ended'],
  },
}
