import { Type } from 'typebox';

const segment = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });

export const projectParam = { projectIdOrName: segment('The id or name of the project.') };
export const ProjectParams = Type.Object(projectParam);
/** Of the project, and of one thing in it by its id. */
export const idParam = <Name extends string>(name: Name, description: string) =>
  Type.Object({ ...projectParam, ...({ [name]: segment(description) } as Record<Name, Type.TString>) });
