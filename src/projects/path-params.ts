import { Type } from 'typebox';

const segment = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });

export const projectParam = { projectIdOrName: segment('The id or name of the project.') };
export const ProjectParams = Type.Object(projectParam);
export const idParam = (description: string) => Type.Object({ ...projectParam, id: segment(description) });
