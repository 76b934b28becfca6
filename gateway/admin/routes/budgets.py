"""Calls about the rules' budgets."""

from gateway.admin import budgets
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.routes.recurring import CURSOR, ON_LIST
from gateway.admin.shapes.schema import page_of, ref

CALLS = (
    Call(
        "GET",
        "/api/v1/budgets",
        budgets.list_budgets,
        "what is used of the rules' budgets, and by whom",
        (Answer("A page, what was used last first.", page_of(ref("BudgetUsage"))),),
        ON_LIST,
        (Parameter("upstream", "The upstream's name."), Parameter("rule", "The rule's name."), CURSOR),
    ),
)
