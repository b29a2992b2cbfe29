-- Health of a Job that a queue or a gate suspends and resumes: Argo CD's own check takes one that was resumed for done
-- while it still runs. Argo CD runs this without the string and math libraries.
local holds = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    if condition.status == "True" then
      local message = condition.message
      if message == nil or message == "" then
        message = condition.reason or ""
      end
      holds[condition.type] = message
    end
  end
end
if holds.Failed then
  return { status = "Degraded", message = holds.Failed }
end
if holds.Complete then
  return { status = "Healthy", message = holds.Complete }
end
if holds.Suspended then
  return { status = "Suspended", message = holds.Suspended }
end
return { status = "Progressing", message = "The job is not done" }
