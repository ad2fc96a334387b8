import type { ResultOf, VariablesOf } from 'gql.tada';
import type { AddMutation, AddMutationVariables } from '../out/codegen/graphql.js';
import type {
  relayAddMutation$data,
  relayAddMutation$variables,
} from '../out/relay/relayAddMutation.graphql.js';
import type { ADD } from './tada.js';

/** Compiles only if a category id is a string, sent and received. */
type IsString<Id> = [Id] extends [string] ? ([string] extends [Id] ? true : false) : false;

export const EXACT: [
  IsString<AddMutationVariables['input']['categoryId']>,
  IsString<AddMutation['createPet']['categoryId']>,
  IsString<relayAddMutation$variables['input']['categoryId']>,
  IsString<relayAddMutation$data['createPet']['categoryId']>,
  IsString<VariablesOf<typeof ADD>['input']['categoryId']>,
  IsString<ResultOf<typeof ADD>['createPet']['categoryId']>,
] = [true, true, true, true, true, true];
