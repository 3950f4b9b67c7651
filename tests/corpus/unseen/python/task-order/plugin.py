from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Task:
    name: str
    needs: list[str]


@dataclass
class Plan:
    tasks: list[Task]


@dataclass
class Order:
    names: list[str]


class Node:
    def __init__(self, name, waits):
        self.name = name
        self.waits = waits
        self.followers = []


@step("Task.Order", determinism="pure")
def order(plan: Plan, context) -> Order:
    """Orders tasks so that each follows the tasks that it needs."""
    nodes = {task.name: Node(task.name, len(task.needs)) for task in plan.tasks}
    for task in plan.tasks:
        for need in task.needs:
            if need not in nodes:
                raise Failure("INVALID_INPUT", f"{task.name} needs the unknown task {need}")
            nodes[need].followers.append(nodes[task.name])
    ready = {node for node in nodes.values() if node.waits == 0}
    names = []
    while ready:
        node = ready.pop()
        names.append(node.name)
        for follower in node.followers:
            follower.waits -= 1
            if follower.waits == 0:
                ready.add(follower)
    if len(names) < len(nodes):
        raise Failure("INVALID_INPUT", "the tasks need each other")
    return Order(names)
